import type { SKRSContext2D } from '@napi-rs/canvas';
import { type Color, css, lighter, mix } from '../color.ts';
import type { Palette } from '../palette.ts';
import { anyOf } from '../words.ts';
import { type Layer, type Scene, type SceneSetup, sky, stars, sun } from './scene.ts';

const ROWS = 4;

interface House {
  x: number;
  top: number;
  width: number;
  roof: 'flat' | 'spire' | 'slope' | 'steps';
  windows: { x: number; y: number; alpha: number }[];
  pane: { width: number; height: number };
}

/** Four rows of houses, in which random windows are lit. */
export const city: Scene = {
  words: anyOf(
    'city', 'street', 'tokyo', 'new york', 'paris', 'london', 'skyline', 'building', 'skyscraper', 'tower', 'urban', 'car', 'robot', 'neon',
    'cyberpunk', 'architecture', 'house', 'город', 'улица', '城市', '城', '街', '东京', '上海', '楼', '霓虹',
  ), // prettier-ignore
  compose(setup) {
    const { frame, palette, random } = setup;
    const { width, height, unit } = frame;
    return [
      sky(frame, [[0, palette.skyTop], [0.75, palette.skyLow], [1, palette.skyLow]]), // prettier-ignore
      ...(palette.night ? [stars(setup, 160)] : []),
      sun(setup, {
        x: width * random.between(0.3, 0.7),
        y: height * random.between(0.3, 0.42),
        radius: unit * random.between(0.15, 0.22),
      }),
      ...Array.from({ length: ROWS }, (_, i) => row(setup, i / (ROWS - 1))),
    ];
  },
};

/** @param depth 0 for the most distant row, 1 for the nearest */
function row(setup: SceneSetup, depth: number): Layer {
  const { frame, palette, random, camera } = setup;
  const { width, height, unit, margin } = frame;
  const tone = mix(palette.far, palette.near, 0.15 + 0.85 * depth);
  const houses: House[] = [];
  for (let x = -margin * 1.2; x < width + margin * 1.2;) {
    const house = planHouse(setup, x, depth);
    houses.push(house);
    x += house.width * random.between(0.92, 1.15);
  }
  const lamp = mix(palette.light, depth > 0.5 && random.chance(0.5) ? palette.accent : palette.second, 0.35);
  return {
    paint(context) {
      const paint = { foot: height + margin, tone, lowTone: mix(tone, palette.skyLow, 0.35 * (1 - depth)), lamp };
      for (const house of houses) drawHouse(context, house, paint, palette);
      // Haze near the ground separates each row from the next.
      const haze = context.createLinearGradient(0, height * 0.55, 0, height);
      haze.addColorStop(0, css(palette.skyLow, 0));
      haze.addColorStop(1, css(palette.skyLow, 0.28 * (1 - depth)));
      context.fillStyle = haze;
      context.fillRect(-margin, height * 0.55, width + 2 * margin, height * 0.45 + margin);
    },
    pose: (seconds) => ({ x: camera.drift(0.25 + 0.75 * depth, seconds), y: depth * (seconds * unit * 0.001) }),
  };
}

/** Where the lowest roof of a row may be, as a share of the frame's height from the top. */
const lowestRoof = (depth: number) => 0.6 + 0.22 * depth;

function planHouse({ frame, random }: SceneSetup, x: number, depth: number): House {
  const { height, unit } = frame;
  const width = unit * random.between(0.055, 0.12) * (0.75 + 0.6 * depth);
  const low = height * lowestRoof(depth);
  const top = low - height * random.next() ** 1.8 * (0.34 - 0.08 * depth);
  const columns = random.whole(3, 5);
  const pane = { width: (width / columns) * 0.46, height: (width / columns) * random.between(0.5, 0.9) };
  const windows: House['windows'] = [];
  const pitch = width / columns;
  // The next row hides what is below its lowest roof, except in the gaps between its houses.
  const hidden = depth < 1 ? height * lowestRoof(depth + 1 / (ROWS - 1)) : height;
  for (let y = top + pitch * 0.7; y < height; y += pane.height + pitch * 0.45) {
    for (let column = 0; column < columns; column++) {
      if (!random.chance(0.34)) continue;
      const alpha = random.between(0.25, 0.95);
      if (y < hidden) windows.push({ x: x + pitch * (column + 0.27), y, alpha });
    }
  }
  return {
    x,
    top,
    width,
    roof: random.pick(['flat', 'flat', 'flat', 'spire', 'slope', 'steps'] as const),
    windows,
    pane,
  };
}

interface HousePaint {
  /** Where the walls end, in pixels from the top. */
  foot: number;
  tone: Color;
  /** The colour of the walls near the foot. */
  lowTone: Color;
  lamp: Color;
}

function drawHouse(context: SKRSContext2D, house: House, paint: HousePaint, palette: Palette): void {
  const { x, top, width, roof, windows, pane } = house;
  const { foot, tone, lowTone, lamp } = paint;
  const wall = context.createLinearGradient(0, top, 0, top + (foot - top) * 0.8);
  wall.addColorStop(0, css(tone));
  wall.addColorStop(1, css(lowTone));
  context.fillStyle = wall;
  context.fillRect(x, top, width, foot - top);
  if (roof === 'spire') context.fillRect(x + width * 0.47, top - width * 0.8, width * 0.06, width * 0.8);
  if (roof === 'steps') context.fillRect(x + width * 0.18, top - width * 0.22, width * 0.64, width * 0.23);
  if (roof === 'slope') {
    context.beginPath();
    context.moveTo(x, top + 1);
    context.lineTo(x + width, top - width * 0.4);
    context.lineTo(x + width, top + 1);
    context.fill();
  }
  context.fillStyle = css(lighter(tone, 0.06), 0.6);
  context.fillRect(x, top, width * 0.05, foot - top);
  context.fillStyle = css(lamp);
  for (const window of windows) {
    context.globalAlpha = window.alpha * (palette.night ? 0.95 : 0.55);
    context.fillRect(window.x, window.y, pane.width, pane.height);
  }
  context.globalAlpha = 1;
}
