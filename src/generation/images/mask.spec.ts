import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { imageFile } from '../../../test/support/stubs/recorded-run.ts';
import { normaliseMask } from './mask.ts';

const folder = mkdtempSync(join(tmpdir(), 'darkroom-mask-'));
afterAll(() => rmSync(folder, { recursive: true }));

const image = { path: 'x', size: 1, contentType: 'image/png', width: 8, height: 4 } as const;

/** The left half has one colour, the right half the other. */
async function halves(left: string, right: string, width = 8, height = 4) {
  const half = (background: string) => sharp({ create: { width: width / 2, height, channels: 4, background } });
  const bytes = await sharp({ create: { width, height, channels: 4, background: '#0000' } })
    .composite([
      { input: await half(left).png().toBuffer(), left: 0, top: 0 },
      { input: await half(right).png().toBuffer(), left: width / 2, top: 0 },
    ])
    .png()
    .toBuffer();
  return imageFile(bytes, { contentType: 'image/png', width, height });
}

async function rowOf(left: string, right: string, width = 8, height = 4): Promise<number[]> {
  const { path } = await normaliseMask(await halves(left, right, width, height), image, folder);
  expect(await sharp(path).metadata()).toMatchObject({ width: 8, height: 4, channels: 1, depth: 'uchar' });
  return [...(await sharp(path).extractChannel(0).raw().toBuffer())].slice(0, 8);
}

const LEFT = [255, 255, 255, 255, 0, 0, 0, 0];
const RIGHT = LEFT.toReversed();

it.each([
  ['transparent changes', '#00000000', '#000000ff', LEFT],
  ['transparent changes, whatever the colours are', '#ff000000', '#ffffffff', LEFT],
  ['half transparent does not, so white does', '#000000b0', '#ffffffff', RIGHT],
  ['white changes where nothing is transparent', '#fff', '#000', LEFT],
  ['light grey changes, dark grey does not', '#909090', '#707070', LEFT],
])('%s', async (_what, left, right, row) => {
  expect(await rowOf(left, right)).toEqual(row);
});

it('is scaled to the image without new greys', async () => {
  expect(await rowOf('#fff', '#000', 16, 8)).toEqual(LEFT);
});

it.each([
  ['of another shape', () => halves('#fff', '#000', 8, 8)],
  ['that changes nothing', () => halves('#000', '#000')],
])('refuses a mask %s', async (_what, make) => {
  await expect(normaliseMask(await make(), image, folder)).rejects.toMatchObject({
    code: 'reference_image_invalid',
    param: 'mask',
  });
});
