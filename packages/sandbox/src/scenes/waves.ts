import { Path2D } from '@napi-rs/canvas';
import { css, lighter, mix } from '../color.ts';
import { anyOf } from '../words.ts';
import { fillPath, type Layer, type Scene, type SceneSetup, sky, stars, sun, sway } from './scene.ts';

const SWELLS = 9;

/** Rows of waves that move against each other, each with a light crest. */
export const waves: Scene = {
  words: anyOf(
    'ocean', 'sea', 'wave', 'water', 'beach', 'surf', 'boat', 'ship', 'island', 'whale', 'dolphin', 'fish', 'lake', 'river', 'storm',
    'море', 'океан', 'волна', '海', '海洋', '波', '湖', '船',
  ), // prettier-ignore
  compose(setup) {
    const { frame, palette, random } = setup;
    const { width, height, unit } = frame;
    const level = random.between(0.4, 0.48);
    return [
      sky(frame, [[0, palette.skyTop], [0.5, palette.skyLow], [1, palette.skyLow]]), // prettier-ignore
      ...(palette.night ? [stars(setup, 220)] : []),
      sun(setup, {
        x: width * random.between(0.28, 0.72),
        y: height * (level - 0.1),
        radius: unit * random.between(0.12, 0.18),
      }),
      ...Array.from({ length: SWELLS }, (_, i) => swell(setup, i, level + (1 - level) * (i / SWELLS) ** 1.1)),
    ];
  },
};

/**
 * @param index 0 for the most distant row
 * @param level the mean height, as a share of the frame from the top
 */
function swell({ frame, palette, random, camera }: SceneSetup, index: number, level: number): Layer {
  const { width, height, unit, margin } = frame;
  const depth = index / (SWELLS - 1);
  const tone = mix(palette.far, palette.near, depth);
  const foam = index % 3 === 1 ? palette.accent : mix(palette.light, tone, 0.25);
  const length = unit * (0.28 + 0.55 * depth) * random.between(0.85, 1.15);
  const reach = unit * (0.008 + 0.034 * depth);
  const phase = random.between(0, 6.28);
  // The curve is a trochoid, which has narrow crests and wide troughs, like water.
  const points: [number, number][] = [];
  for (let at = -3 * margin; at <= width + 3 * margin; at += Math.max(1, unit / 300)) {
    const angle = (at / length) * 2 * Math.PI + phase;
    points.push([
      at + Math.sin(angle) * reach * 0.9,
      level * height - Math.cos(angle) * reach - Math.sin(angle * 0.37) * reach * 0.6,
    ]);
  }
  const crest = new Path2D();
  for (const [px, py] of points) crest.lineTo(px, py);
  const water = new Path2D();
  water.moveTo(-margin, height + margin);
  for (const [px, py] of points) water.lineTo(px, py);
  water.lineTo(width + margin, height + margin);
  water.closePath();
  const x = sway(unit * (0.015 + 0.025 * depth), 9 + 5 * (1 - depth), random.between(0, 6.28) + (index % 2) * Math.PI);
  const y = sway(reach * 0.45, 5 + depth * 2, phase);
  return {
    paint(context) {
      const gradient = context.createLinearGradient(0, level * height - reach * 2, 0, level * height + unit * 0.22);
      gradient.addColorStop(0, css(lighter(tone, 0.07)));
      gradient.addColorStop(1, css(lighter(tone, -0.05)));
      context.fillStyle = gradient;
      fillPath(context, water);
      context.strokeStyle = css(foam, 0.35 + 0.4 * depth);
      context.lineWidth = unit * (0.0012 + 0.003 * depth);
      context.lineJoin = 'round';
      context.stroke(crest);
    },
    pose: (seconds) => ({ x: x(seconds) + camera.drift(0.25 + 0.75 * depth, seconds), y: y(seconds) }),
    hidesBelow: points.reduce((lowest, [, py]) => Math.max(lowest, py), 0),
  };
}
