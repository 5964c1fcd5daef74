import type { SKRSContext2D } from '@napi-rs/canvas';
import { type Color, css, mix } from '../color.ts';
import type { Palette } from '../palette.ts';
import type { Random } from '../random.ts';

/** What is painted on. Scenes reach `margin` pixels beyond every edge, so that a drifting layer shows no end. */
export interface Frame {
  width: number;
  height: number;
  /** The shorter side: the measure of shapes. */
  unit: number;
  margin: number;
}

/** Where a layer stands at a moment, against where it was drawn. Turn (radians) and zoom are about `pivot`. */
export interface Pose {
  x?: number;
  y?: number;
  turn?: number;
  zoom?: number;
  pivot?: { x: number; y: number };
}

/** Layers are painted in order. */
export interface Layer {
  paint(context: SKRSContext2D, seconds: number): void;
  pose?(seconds: number): Pose;
  /**
   * Fills the frame with a gradient, at all times the same: a film paints it once and moves the plate. Only that is worth it:
   * in 720p a moved plate costs 1 to 4 ms, a gradient over the frame 3.5 to 5 ms, and a ridge, swell or petal 1 to 2 ms.
   */
  plate?: true;
}

export interface Scene {
  words: RegExp;
  compose(frame: Frame, palette: Palette, random: Random, text: string): Layer[];
}

export function frameOf(width: number, height: number): Frame {
  const unit = Math.min(width, height);
  return { width, height, unit, margin: Math.round(unit * 0.1) };
}

/** Slow there and back, `reach` pixels each way. */
export function sway(reach: number, periodSeconds: number, phase = 0): (seconds: number) => number {
  return (seconds) => reach * Math.sin((seconds / periodSeconds) * 2 * Math.PI + phase);
}

/** A gradient over the whole of the frame, from edge to edge of the margin. */
export function sky(frame: Frame, stops: [number, Color][]): Layer {
  return {
    plate: true,
    paint(context) {
      const gradient = context.createLinearGradient(0, -frame.margin, 0, frame.height + frame.margin);
      for (const [at, stop] of stops) gradient.addColorStop(at, css(stop));
      context.fillStyle = gradient;
      fillFrame(context, frame);
    },
  };
}

export function fillFrame(context: SKRSContext2D, { width, height, margin }: Frame): void {
  context.fillRect(-margin, -margin, width + 2 * margin, height + 2 * margin);
}

export function disc(context: SKRSContext2D, x: number, y: number, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

/** A sun or moon with its glow. */
export function shine(frame: Frame, palette: Palette, x: number, y: number, radius: number): Layer {
  return {
    plate: true,
    paint(context) {
      const glow = context.createRadialGradient(x, y, radius * 0.6, x, y, radius * 4);
      glow.addColorStop(0, css(palette.light, palette.night ? 0.35 : 0.55));
      glow.addColorStop(0.4, css(palette.light, palette.night ? 0.1 : 0.18));
      glow.addColorStop(1, css(palette.light, 0));
      context.fillStyle = glow;
      fillFrame(context, frame);
      const face = context.createLinearGradient(x, y - radius, x, y + radius);
      face.addColorStop(0, css(palette.light));
      face.addColorStop(1, css(mix(palette.light, palette.accent, palette.night ? 0.15 : 0.55)));
      context.fillStyle = face;
      disc(context, x, y, radius);
    },
    pose: (seconds) => ({ y: -seconds * frame.unit * 0.004 }),
  };
}

/** Small lights in the upper part of the sky. */
export function stars(frame: Frame, palette: Palette, random: Random, count: number): Layer {
  const lights = Array.from({ length: count }, () => ({
    x: random.between(-frame.margin, frame.width + frame.margin),
    y: random.next() ** 1.4 * frame.height * 0.85 - frame.margin * 0.5,
    radius: frame.unit * (0.0008 + 0.0022 * random.next() ** 4),
    alpha: random.between(0.25, 0.95),
  }));
  const x = sway(frame.margin * 0.25, 40);
  return {
    paint(context) {
      for (const light of lights) {
        context.fillStyle = css(palette.light, light.alpha);
        disc(context, light.x, light.y, light.radius);
      }
    },
    pose: (seconds) => ({ x: x(seconds) }),
  };
}
