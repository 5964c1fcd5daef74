import { type Canvas, createCanvas, type Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import { type Color, css, mix } from '../color.ts';
import { type Camera, MOST_DRIFT } from '../camera.ts';
import { fillGradient } from '../fill-gradient.ts';
import type { Palette } from '../palette.ts';
import type { Random } from '../random.ts';

/**
 * The area to paint. Scenes extend `margin` pixels beyond every edge, so that the end of a moving layer never shows.
 */
export interface Frame {
  width: number;
  height: number;
  /** The length of the shorter side, by which shapes are scaled. */
  unit: number;
  margin: number;
}

/** How a layer is moved from where it was drawn. `turn` (in radians) and `zoom` are around `pivot`. */
export interface Pose {
  x?: number;
  y?: number;
  turn?: number;
  zoom?: number;
  pivot?: Point;
}

/** A part of a scene. The layers of a scene are painted in their order. */
export interface Layer {
  paint(context: SKRSContext2D, seconds: number): void;
  pose?(seconds: number): Pose;
  /**
   * Set for a layer that fills the frame with a constant gradient and never moves. A film paints such a layer once and
   * then copies it, which takes 1 ms in 720p. All other layers are painted for each frame: painting a ridge, swell or
   * petal takes 1 to 2 ms, but a copy that moves by fractions of a pixel takes 4 ms.
   */
  plate?: true;
  /** Called once before the first of many paints, to prepare what all of them share. */
  prepare?(): void;
  /**
   * The layer hides everything behind it from this row down, over the whole width. The `y` of the pose moves this row
   * too. The pose of such a layer has no `turn` or `zoom`.
   */
  hidesBelow?: number;
}

/** The input of a scene. */
export interface SceneSetup {
  frame: Frame;
  palette: Palette;
  random: Random;
  camera: Camera;
  /** The prompt without directives such as `#hang`. */
  text: string;
}

export interface Scene {
  /** Words of a prompt that select this scene. */
  words: RegExp;
  compose(setup: SceneSetup): Layer[];
}

export interface Point {
  x: number;
  y: number;
}

export interface Circle extends Point {
  radius: number;
}

export function frameOf(width: number, height: number): Frame {
  const unit = Math.min(width, height);
  return { width, height, unit, margin: Math.ceil((width * MOST_DRIFT) / 2 + unit * 0.04) };
}

/** A slow swing by `reach` pixels in each direction. */
export function sway(reach: number, periodSeconds: number, phase = 0): (seconds: number) => number {
  return (seconds) => reach * Math.sin((seconds / periodSeconds) * 2 * Math.PI + phase);
}

/** A vertical gradient over the whole frame and its margin. */
export function sky(frame: Frame, stops: [number, Color][]): Layer {
  return {
    plate: true,
    paint(context) {
      const { width, height, margin } = frame;
      const area = { x: -margin, y: -margin, width: width + 2 * margin, height: height + 2 * margin };
      fillGradient(
        context,
        area,
        stops.map(([at, stop]) => [area.y + at * area.height, css(stop)]),
      );
    },
  };
}

export function fillFrame(context: SKRSContext2D, { width, height, margin }: Frame): void {
  context.fillRect(-margin, -margin, width + 2 * margin, height + 2 * margin);
}

export function fillPath(context: SKRSContext2D, path: Path2D): void {
  // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- a canvas, not an array
  context.fill(path);
}

export function fillCircle(context: SKRSContext2D, { x, y, radius }: Circle): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

/** A sun or moon with its glow. In a film it rises slowly. */
export function sun({ frame, palette, camera }: SceneSetup, { x, y, radius }: Circle): Layer {
  const reach = Math.ceil(radius * 4);
  let glow: Canvas | undefined;
  return {
    prepare() {
      glow = createCanvas(2 * reach, 2 * reach);
      const context = glow.getContext('2d');
      fillGlow(context, palette, { x: reach, y: reach, radius });
      context.getImageData(0, 0, 1, 1); // reading a pixel paints the recorded glow; else each copy would paint it
    },
    paint(context, seconds) {
      const now = y - seconds * frame.unit * 0.004;
      // The glow is copied to whole pixels, which takes a quarter of the time. In a glow the rounding is not visible.
      if (glow) context.drawImage(glow, Math.round(x) - reach, Math.round(now) - reach);
      else fillGlow(context, palette, { x, y: now, radius });
      const face = context.createLinearGradient(x, now - radius, x, now + radius);
      face.addColorStop(0, css(palette.light));
      face.addColorStop(1, css(mix(palette.light, palette.accent, palette.night ? 0.15 : 0.55)));
      context.fillStyle = face;
      fillCircle(context, { x, y: now, radius });
    },
    // Whole pixels, so that the copy of the glow stays at whole pixels.
    pose: (seconds) => ({ x: Math.round(camera.drift(0.12, seconds)) }),
  };
}

/** Fills a square around the centre. The glow ends at a distance of four times the radius. */
function fillGlow(context: SKRSContext2D, palette: Palette, { x, y, radius }: Circle): void {
  const reach = radius * 4;
  const glow = context.createRadialGradient(x, y, radius * 0.6, x, y, reach);
  glow.addColorStop(0, css(palette.light, palette.night ? 0.35 : 0.55));
  glow.addColorStop(0.4, css(palette.light, palette.night ? 0.1 : 0.18));
  glow.addColorStop(1, css(palette.light, 0));
  context.fillStyle = glow;
  context.fillRect(x - reach, y - reach, 2 * reach, 2 * reach);
}

/** Small lights, most of them in the upper part of the frame. */
export function stars({ frame, palette, random, camera }: SceneSetup, count: number): Layer {
  const lights = Array.from({ length: count }, () => ({
    x: random.between(-frame.margin, frame.width + frame.margin),
    y: random.next() ** 1.4 * frame.height * 0.85 - frame.margin * 0.5,
    radius: frame.unit * (0.0008 + 0.0022 * random.next() ** 4),
    alpha: random.between(0.25, 0.95),
  }));
  return {
    paint(context) {
      context.fillStyle = css(palette.light);
      for (const light of lights) {
        context.globalAlpha = light.alpha;
        fillCircle(context, light);
      }
      context.globalAlpha = 1;
    },
    pose: (seconds) => ({ x: camera.drift(0.2, seconds) }),
  };
}
