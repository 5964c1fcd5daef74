import type { Random } from './random.ts';

/** How a camera moves during a film. In a picture it does not move. */
export interface Camera {
  /** The horizontal offset of a layer in pixels. @param depth 0 does not move; 1 is nearest and moves most */
  drift(depth: number, seconds: number): number;
  /** The factor by which a layer is enlarged, at least 1. */
  zoom(depth: number, seconds: number): number;
}

/** The smallest drift, as a share of the width, at depth 1 over the whole film. */
const LEAST_DRIFT = 0.08;
/** The largest drift, as a share of the width. The margin of a frame is wide enough for it. */
export const MOST_DRIFT = 0.12;
const MOST_ZOOM = 0.12;

/** @param width the frame's width in pixels */
export function cameraOf(width: number, random: Random, durationSeconds: number | undefined): Camera {
  const reach = width * random.between(LEAST_DRIFT, MOST_DRIFT) * (random.chance(0.5) ? 1 : -1);
  if (durationSeconds === undefined) return { drift: () => 0, zoom: () => 1 };
  const passed = (seconds: number) => Math.min(1, seconds / durationSeconds);
  return {
    drift: (depth, seconds) => reach * depth * (passed(seconds) - 0.5),
    zoom: (depth, seconds) => 1 + MOST_ZOOM * depth * passed(seconds),
  };
}
