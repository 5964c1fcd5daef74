import type { ResolvedInput } from '../provider.ts';
import { imageChoice, imageSize, type Size, videoSize } from './sizes.ts';

const asked = (aspect_ratio: string, resolution: string): ResolvedInput => ({ prompt: 'x', aspect_ratio, resolution });

describe('imageSize', () => {
  it.each([
    ['gpt-image-2', '3:2', '1K', 1536, 1024],
    ['gpt-image-2', '5:4', '2K', 1920, 1536],
    ['gpt-image-2', '1:1', '4K', 2880, 2880],
    ['nano-banana-2', '16:9', '2K', 2752, 1536],
    ['nano-banana-pro', '21:9', '4K', 6336, 2688],
  ])('%s %s %s is %ix%i', (model, ratio, resolution, width, height) => {
    expect(imageSize(model, asked(ratio, resolution))).toEqual({ width, height });
  });

  it.each(['1:1', '5:4', '4:5', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16', '21:9'])(
    'gpt-image-2 %s is of exactly that ratio, in multiples of 16, in every resolution',
    (ratio) => {
      const [w = 0, h = 0] = ratio.split(':').map(Number);
      for (const resolution of ['1K', '2K', '4K']) {
        const { width, height } = imageSize('gpt-image-2', asked(ratio, resolution));
        expect([width % 16, height % 16, width * h - height * w]).toEqual([0, 0, 0]);
      }
    },
  );

  it('auto takes the ratio nearest to the first reference image', () => {
    expect(imageSize('gpt-image-2', asked('auto', '1K'), { width: 4032, height: 3024 })).toEqual({
      width: 1280,
      height: 960,
    });
    expect(imageSize('gpt-image-2', asked('auto', '1K'), { width: 100, height: 1000 })).toEqual({
      width: 864,
      height: 1536,
    });
    expect(imageSize('nano-banana-2', asked('auto', '2K'), { width: 2100, height: 900 })).toEqual({
      width: 3168,
      height: 1344,
    });
  });

  it('auto without a reference image is a square', () => {
    expect(imageSize('nano-banana-2', asked('auto', '4K'))).toEqual({ width: 4096, height: 4096 });
  });

  it('auto takes the nearest of what its provider takes, of two as near the wider', () => {
    const auto = asked('auto', '4K');
    const isOblong = ({ width, height }: Size) => width !== height;
    expect(imageChoice('gpt-image-2', auto, undefined, isOblong).ratio).toBe('5:4');
    expect(() => imageChoice('gpt-image-2', auto, undefined, () => false)).toThrow(
      expect.objectContaining({ name: 'UnsupportedRequest', param: 'resolution' }),
    );
  });

  it('refuses what there is no size for', () => {
    expect(() => imageSize('nano-banana-2', asked('1:1', '1K'))).toThrow(
      expect.objectContaining({ name: 'UnsupportedRequest' }),
    );
    expect(() => imageSize('gpt-image-2', asked('toString', '1K'))).toThrow(
      expect.objectContaining({ name: 'UnsupportedRequest', param: 'aspect_ratio' }),
    );
  });
});

describe('videoSize', () => {
  it.each([
    ['16:9', '720p', 1280, 720],
    ['21:9', '720P', 1470, 630],
    ['21:9', '1080P', 2206, 946],
    ['4:3', '1080p', 1664, 1248],
    ['1:1', '4K', 3840, 3840],
    ['21:9', '4K', 3840, 1646],
    ['9:16', '4K', 2160, 3840],
  ])('%s %s is %ix%i', (ratio, resolution, width, height) => {
    expect(videoSize(asked(ratio, resolution))).toEqual({ width, height });
  });

  it.each(['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'])('%s has even sides in every resolution', (ratio) => {
    for (const resolution of ['720p', '1080p', '4k']) {
      const { width, height } = videoSize(asked(ratio, resolution));
      expect([width % 2, height % 2]).toEqual([0, 0]);
    }
  });

  it('refuses auto', () => {
    expect(() => videoSize(asked('auto', '720p'))).toThrow(expect.objectContaining({ name: 'UnsupportedRequest' }));
  });
});
