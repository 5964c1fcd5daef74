import { createCanvas } from '@napi-rs/canvas';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { preparePainter } from './film-painter.ts';
import { FRAMES_PER_SECOND } from './film-pieces.ts';
import type { FilmOrder } from './render-order.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'darkroom-painter-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function flat(color: string, param: string) {
  const path = join(folder, `${param}.png`);
  await sharp({ create: { width: 30, height: 20, channels: 3, background: color } }).toFile(path);
  return { path, param };
}

const DURATION = 3;
const LAST = DURATION - 1 / FRAMES_PER_SECOND;

async function painterWith(images: Partial<FilmOrder>) {
  const order: FilmOrder = {
    kind: 'film',
    model: 'sora-2',
    text: 'waves',
    size: { width: 64, height: 36 },
    references: [],
    firstFrame: null,
    durationSeconds: DURATION,
    path: '',
    stillPath: '',
    ...images,
  };
  const painter = await preparePainter(order);
  const colours = (seconds: number) => {
    const context = createCanvas(64, 36).getContext('2d');
    painter.paintCover(context, seconds);
    const { data } = context.getImageData(0, 0, 64, 36);
    return new Set(Array.from({ length: data.length / 4 }, (_, at) => [...data.subarray(4 * at, 4 * at + 4)].join()));
  };
  return { painter, colours };
}

it('begins with the first frame, shows the scene, and ends with the last frame', async () => {
  const images = { firstFrame: await flat('#00ff00', 'first'), lastFrame: await flat('#ff0000', 'last') };
  const { painter, colours } = await painterWith(images);
  expect([painter.coverAt(0), [...colours(0)]]).toEqual([1, ['0,255,0,255']]);
  expect([painter.coverAt(LAST - 1), [...colours(LAST - 1)]]).toEqual([0, ['0,0,0,0']]);
  expect(painter.coverAt(LAST - 0.5)).toBeCloseTo(0.5);
  expect([painter.coverAt(LAST), [...colours(LAST)]]).toEqual([1, ['255,0,0,255']]);
});

it('hides nothing at its end without a last frame', async () => {
  const { painter } = await painterWith({ firstFrame: await flat('#00ff00', 'first') });
  expect(painter.coverAt(LAST)).toBe(0);
});
