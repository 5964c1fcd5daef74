import { catalog, findModel } from '../catalog.ts';
import type { Model } from './model.ts';
import { nearestSize, parsePixels, toPixels } from './nearest-size.ts';

const gptImage2 = findModel('gpt-image-2')!;
const nanoBanana2 = findModel('nano-banana-2')!;
const seedance2 = findModel('seedance-2')!;
const sora2 = findModel('sora-2')!;

const nearest = (model: Model, pixels: string) => {
  const found = nearestSize(model.sizes, parsePixels(pixels)!);
  return found && `${found.ratio} ${found.resolution} ${toPixels(found.size)}`;
};

describe('a size in pixels', () => {
  it.each([
    [gptImage2, '1024x1024', '1:1 1K 1024x1024'],
    [gptImage2, '1536x1024', '3:2 1K 1536x1024'],
    [gptImage2, '1024x1536', '2:3 1K 1024x1536'],
    [gptImage2, '1792x1024', '16:9 2K 2048x1152'],
    [gptImage2, '1024x1792', '9:16 2K 1152x2048'],
    [gptImage2, '512x512', '1:1 1K 1024x1024'],
    [gptImage2, '256x256', '1:1 1K 1024x1024'],
    [gptImage2, '9999x9999', '1:1 4K 2880x2880'],
    [nanoBanana2, '1024x1024', '1:1 2K 2048x2048'],
    [nanoBanana2, '1536x1024', '3:2 2K 2528x1696'],
    [sora2, '720x1280', '9:16 720P 720x1280'],
    [sora2, '1792x1024', '16:9 1080P 1920x1080'],
    [sora2, '1024x1792', '9:16 1080P 1080x1920'],
    [seedance2, '3840x2160', '16:9 1080p 1920x1080'],
  ])('of %# is exact or the nearest one of the model', (model, pixels, found) => {
    expect(nearest(model, pixels)).toBe(found);
  });

  it.each(catalog.models.map((model) => [model.id, model] as const))(
    'of the table of %s is found exactly',
    (_id, model) => {
      for (const row of Object.values(model.sizes)) {
        for (const size of Object.values(row)) expect(nearestSize(model.sizes, size)?.size).toEqual(size);
      }
    },
  );

  it('more than 15 % off every ratio is refused', () => {
    expect(nearest(gptImage2, '100x1000')).toBeNull();
    expect(nearest(gptImage2, '600x1400')).toBeNull(); // 21:9 is not turned round
    expect(nearest(sora2, '1000x870')).toBe('1:1 720P 960x960'); // 14.9 %
    expect(nearestSize({ '1:1': sora2.sizes['1:1']! }, { width: 1151, height: 1000 })).toBeNull();
  });

  it.each(['0x100', '100x0', '10000x1', '1024', '1024X1024', 'auto', ' 1024x1024', '1e3x1e3', '-1x1', ''])(
    '%j is not a size in pixels',
    (text) => expect(parsePixels(text)).toBeNull(),
  );
});
