import { createHash } from 'node:crypto';
import { FilmEncoder } from './film-encoder.ts';
import { seededRandom } from './random.ts';

type Pixel = [red: number, green: number, blue: number];

/** Neither is a multiple of the 16 pixels of a macroblock. */
const SIZE = { width: 38, height: 18 };
const random = seededRandom('film-encoder.spec');

/** Premultiplied, as canvases store pixels. */
function noise(width: number, height: number, alpha: () => number): Uint8Array {
  const bytes = new Uint8Array(width * height * 4);
  for (let at = 0; at < bytes.length; at += 4) {
    const a = alpha();
    bytes.set([random.whole(0, a), random.whole(0, a), random.whole(0, a), a], at);
  }
  return bytes;
}

const opaque = () => 255;
const anything = () => random.pick([0, 1, 127, 254, 255]);

const at = (rgba: Uint8Array, width: number, x: number, y: number): [...Pixel, number] =>
  [...rgba.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)] as [...Pixel, number];

function over(below: Pixel, [red, green, blue, alpha]: [...Pixel, number]): Pixel {
  const [r, g, b] = below.map((value) => Math.round((value * (255 - alpha)) / 255)) as Pixel;
  return [r + red, g + green, b + blue];
}

/** Bilinear, pixels being squares: three parts of the nearer and one of the further, in each direction. */
function enlarged(rgba: Uint8Array, width: number, height: number, x: number, y: number): Pixel {
  const clamp = (value: number, limit: number) => Math.min(limit - 1, Math.max(0, value));
  const near = [x >> 1, y >> 1] as const;
  const far = [clamp(near[0] + (x % 2 ? 1 : -1), width), clamp(near[1] + (y % 2 ? 1 : -1), height)] as const;
  const sum = (channel: number) =>
    9 * at(rgba, width, near[0], near[1])[channel]! +
    3 * at(rgba, width, far[0], near[1])[channel]! +
    3 * at(rgba, width, near[0], far[1])[channel]! +
    at(rgba, width, far[0], far[1])[channel]!;
  return [0, 1, 2].map((channel) => Math.floor((sum(channel) + 8) / 16)) as Pixel;
}

const luma = ([red, green, blue]: Pixel) => 16 + (219 / 255) * (0.2126 * red + 0.7152 * green + 0.0722 * blue);
const blueness = ([red, green, blue]: Pixel) => 128 + (224 / 255) * (-0.1146 * red - 0.3854 * green + 0.5 * blue);
const redness = ([red, green, blue]: Pixel) => 128 + (224 / 255) * (0.5 * red - 0.4542 * green - 0.0458 * blue);

function expectFrame(encoder: FilmEncoder, pixel: (x: number, y: number) => Pixel): void {
  const [first, ...chroma] = encoder.planes;
  let worst = 0;
  for (let y = 0; y < SIZE.height; y++) {
    for (let x = 0; x < SIZE.width; x++) {
      worst = Math.max(worst, Math.abs(first!.bytes[y * first!.stride + x]! - luma(pixel(x, y))));
    }
  }
  for (const [i, weigh] of [blueness, redness].entries()) {
    const plane = chroma[i]!;
    for (let y = 0; y < plane.height; y++) {
      for (let x = 0; x < plane.width; x++) {
        const four = [0, 1].flatMap((dx) => [0, 1].map((dy) => weigh(pixel(2 * x + dx, 2 * y + dy))));
        const mean = four.reduce((sum, value) => sum + value, 0) / 4;
        worst = Math.max(worst, Math.abs(plane.bytes[y * plane.stride + x]! - mean));
      }
    }
  }
  expect(worst).toBeLessThan(0.6); // half a step of rounding, and the weights' own
}

it('converts the scene to BT.709 in limited range', () => {
  const encoder = new FilmEncoder({ size: SIZE, scale: 1, letters: new Uint8Array(), coverRows: 0 });
  const scene = noise(SIZE.width, SIZE.height, opaque);
  encoder.scene.set(scene);
  encoder.compose(0, SIZE.height, 0, false);
  expectFrame(encoder, (x, y) => at(scene, SIZE.width, x, y).slice(0, 3) as Pixel);
});

it.each([1, 2])('lays letters and a cover over a scene that it enlarges %i times', (scale) => {
  const letterRows = 7;
  const lettersTop = 13; // their last two rows are below the frame
  const letters = noise(SIZE.width, letterRows, anything);
  const cover = noise(SIZE.width, 10, anything);
  const encoder = new FilmEncoder({ size: SIZE, scale, letters, coverRows: 10 });
  const [width, height] = [SIZE.width / scale, SIZE.height / scale];
  const scene = noise(width, height, opaque);
  encoder.scene.set(scene);
  encoder.compose(0, 8, lettersTop, false);
  encoder.cover.set(cover);
  encoder.compose(8, 10, lettersTop, true);
  expectFrame(encoder, (x, y) => {
    let pixel: Pixel =
      scale === 1 ? (at(scene, width, x, y).slice(0, 3) as Pixel) : enlarged(scene, width, height, x, y);
    const row = y - lettersTop;
    if (row >= 0 && row < letterRows) pixel = over(pixel, at(letters, SIZE.width, x, row));
    return y < 8 ? pixel : over(pixel, at(cover, SIZE.width, x, y - 8));
  });
});

it('encodes a piece the same way whatever it encoded before', () => {
  const scenes = Array.from({ length: 3 }, () => noise(SIZE.width, SIZE.height, opaque));
  const encoder = new FilmEncoder({ size: SIZE, scale: 1, letters: new Uint8Array(), coverRows: 0 });
  const piece = () => {
    encoder.restart();
    return scenes.map((scene) => {
      encoder.scene.set(scene);
      encoder.compose(0, SIZE.height, 0, false);
      return encoder.encode();
    });
  };
  const [first, second] = [piece(), piece()];
  expect(second).toEqual(first);
  expect(first.map(({ parameters }) => Boolean(parameters))).toEqual([true, false, false]);
  const UNIT_TYPES = { slice: 1, key: 5, sequence: 7, picture: 8 };
  expect(first.map(({ bytes }) => bytes[4]! & 31)).toEqual([UNIT_TYPES.key, UNIT_TYPES.slice, UNIT_TYPES.slice]);
  const { sequence, picture } = first[0]!.parameters!;
  expect([sequence[0]! & 31, picture[0]! & 31]).toEqual([UNIT_TYPES.sequence, UNIT_TYPES.picture]);
});

/** Of what minih264's plain C makes of the same frames (PLAIN=1 build.sh). */
const PLAIN_BYTES = '455539530b31501245f2f16e72bad68df0018d86570c1ad719c99ad3619880eb';

it('gives the bytes of the code without SIMD', () => {
  const [width, height] = [176, 112];
  const encoder = new FilmEncoder({ size: { width, height }, scale: 1, letters: new Uint8Array(), coverRows: 0 });
  const random = seededRandom('the bytes of the code without SIMD');
  const hash = createHash('sha256');
  encoder.restart();
  // A ramp with hard edges that move, flicker and noise, so that every way to predict a block is taken.
  for (let frame = 0; frame < 24; frame++) {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const bar = (x + 3 * frame) % 61 < 9 || (y + frame) % 37 < 5 ? 200 - 8 * frame : 0;
        const grain = x > width / 2 ? random.whole(0, frame % 3 === 0 ? 255 : 12) : 0;
        encoder.scene.fill((x + y + bar + grain) % 256, 4 * (y * width + x), 4 * (y * width + x) + 3);
      }
    }
    encoder.compose(0, height, 0, false);
    hash.update(encoder.encode().bytes);
  }
  expect(hash.digest('hex')).toBe(PLAIN_BYTES);
});
