import { Path2D } from '@napi-rs/canvas';
import { css, lighter, mix } from '../color.ts';
import { anyOf } from '../words.ts';
import { fillPath, type Layer, type Point, type Scene, type SceneSetup, sky, stars, sun } from './scene.ts';

const RIDGES = 6;
const WOODED = anyOf(
  'forest',
  'tree',
  'wood',
  'jungle',
  'fir',
  'pine',
  'wolf',
  'bear',
  'deer',
  'fox',
  'лес',
  '森林',
  '树',
  '林',
);

/** Ridges of hills, each in its own mist, under a low sun. */
export const horizon: Scene = {
  words: anyOf(
    'mountain', 'hill', 'valley', 'forest', 'tree', 'desert', 'dune', 'canyon', 'landscape', 'sunset', 'sunrise', 'fox', 'wolf', 'deer', 'bear',
    'snow', 'field', 'гора', 'лес', 'закат', '山', '森林', '日落', '沙漠', '雪', '风景',
  ), // prettier-ignore
  compose(setup) {
    const { frame, palette, random, text } = setup;
    const { width, height, unit } = frame;
    const level = random.between(0.42, 0.5);
    const sharp = random.pick([0.25, 0.6, 1]);
    const wooded = WOODED.test(text);
    const ridges = Array.from({ length: RIDGES }, (_, i) =>
      ridge(setup, { depth: i / (RIDGES - 1), level: level + (0.95 - level) * (i / RIDGES) ** 1.15, sharp, wooded }),
    );
    return [
      sky(frame, [[0, palette.skyTop], [0.62, palette.skyLow], [1, palette.skyLow]]), // prettier-ignore
      ...(palette.night ? [stars(setup, 260)] : []),
      sun(setup, {
        x: width * random.between(0.25, 0.75),
        y: height * (level - random.between(0.06, 0.16)),
        radius: unit * random.between(0.09, 0.15),
      }),
      ...ridges,
    ];
  },
};

interface Ridge {
  /** 0 for the most distant ridge, 1 for the nearest. */
  depth: number;
  /** The mean height of the crest, as a share of the frame from the top. */
  level: number;
  /** 0 for rolling hills, 1 for sharp peaks. */
  sharp: number;
  wooded: boolean;
}

function ridge(setup: SceneSetup, { depth, level, sharp, wooded }: Ridge): Layer {
  const { frame, palette, random, camera } = setup;
  const { width, height, unit, margin } = frame;
  const tone = mix(palette.far, palette.near, depth ** 0.8);
  const octaves = [1, 2.1, 4.3, 8.7, 17].map((frequency, i) => ({
    frequency: (frequency * random.between(0.85, 1.15) * Math.max(1, width / height)) / 1.2,
    phase: random.between(0, 2 * Math.PI),
    reach: (unit * 0.075 * (1.25 - depth * 0.4)) / (i === 0 ? 1 : (2 - sharp * 0.35) ** i),
  }));
  const crest = (x: number) =>
    octaves.reduce((y, octave, i) => {
      const swing = Math.sin((x / width) * octave.frequency * Math.PI + octave.phase);
      // Folding a wave, by its absolute value, makes peaks. The first wave is not folded: it is the base for the
      // others.
      return y - octave.reach * (i === 0 ? swing : between(swing, 1 - 2 * Math.abs(swing), sharp));
    }, level * height);
  const step = Math.max(1, unit / 400);
  const points: Point[] = [];
  for (let at = -margin; at <= width + margin + step; at += step) points.push({ x: at, y: crest(at) });
  const outline = new Path2D();
  outline.moveTo(-margin, height + margin);
  for (const point of points) outline.lineTo(point.x, point.y);
  outline.lineTo(width + margin, height + margin);
  outline.closePath();
  const trees = new Path2D();
  if (wooded && depth > 0.15) for (const fir of plantFirs(setup, depth, crest)) addFir(trees, fir);
  return {
    paint(context) {
      const gradient = context.createLinearGradient(0, level * height - unit * 0.12, 0, level * height + unit * 0.3);
      gradient.addColorStop(0, css(lighter(tone, -0.02)));
      gradient.addColorStop(1, css(mix(tone, palette.skyLow, 0.42 * (1 - depth))));
      context.fillStyle = gradient;
      fillPath(context, outline);
      fillPath(context, trees);
    },
    pose: (seconds) => ({ x: camera.drift(0.25 + 0.75 * depth, seconds), y: depth * seconds * unit * 0.0012 }),
    hidesBelow: points.reduce((lowest, point) => Math.max(lowest, point.y), 0),
  };
}

interface Fir {
  x: number;
  foot: number;
  height: number;
}

function plantFirs({ frame, random }: SceneSetup, depth: number, crest: (x: number) => number): Fir[] {
  const { width, unit, margin } = frame;
  const firs: Fir[] = [];
  const tall = unit * (0.03 + 0.075 * depth);
  for (let x = -margin; x < width + margin; x += tall * random.between(0.16, 0.55)) {
    firs.push({ x, foot: crest(x) + tall * 0.12, height: tall * random.between(0.45, 1.1) });
  }
  return firs;
}

/** Adds three tiers of branches. Each tier is a little wider than the one above. */
function addFir(path: Path2D, { x, foot, height }: Fir): void {
  for (let tier = 0; tier < 3; tier++) {
    const top = foot - height * (1 - tier * 0.26);
    const half = height * (0.1 + tier * 0.055);
    path.moveTo(x, top);
    path.lineTo(x + half, top + height * 0.48);
    path.lineTo(x - half, top + height * 0.48);
    path.closePath();
  }
}

const between = (a: number, b: number, share: number) => a + (b - a) * share;
