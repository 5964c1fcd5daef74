import sharp from 'sharp';
import { readPngSize } from './png-header.ts';

const picture = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: { r: 200, g: 100, b: 50, alpha: 0.5 } } });

describe('the size of a PNG by its header', () => {
  it.each([
    ['RGB', () => picture(64, 48).png()],
    ['RGBA', () => picture(64, 48, 4).png()],
    ['grey', () => picture(64, 48).greyscale().png()],
    ['16 bits', () => picture(64, 48).toColourspace('rgb16').png()],
  ])('of %s is that of a decoder', async (_name, make) => {
    const png = await make().toBuffer();
    const { width, height } = await sharp(png).metadata();
    expect(readPngSize(png)).toEqual({ width, height });
    expect([width, height]).toEqual([64, 48]);
  });

  it.each<[string, (png: Buffer) => Buffer | Promise<Buffer>]>([
    ['a palette', () => picture(64, 48).png({ palette: true }).toBuffer()],
    ['an interlaced picture', () => picture(64, 48).png({ progressive: true }).toBuffer()],
    ['an orientation', () => picture(64, 48).withMetadata({ orientation: 6 }).png().toBuffer()],
    ['a JPEG', () => picture(64, 48).jpeg().toBuffer()],
    ['nothing', () => Buffer.alloc(0)],
    ['a signature alone', (png) => png.subarray(0, 8)],
    ['a header alone', (png) => png.subarray(0, 33)],
    ['a header and an end', (png) => Buffer.concat([png.subarray(0, 33), png.subarray(-12)])],
    ['16,384 pixels', () => picture(16_384, 1).png().toBuffer()],
    ['a half', (png) => png.subarray(0, png.length / 2)],
    ['a spoilt check sum', (png) => spoilt(png, 29)],
    ['a spoilt width', (png) => spoilt(png, 18)],
    ['another first chunk', (png) => spoilt(png, 12)],
  ])('is left to a decoder for %s', async (_name, make) => {
    expect(readPngSize(await make(await picture(64, 48).png().toBuffer()))).toBeNull();
  });
});

function spoilt(png: Buffer, at: number): Buffer {
  const copy = Buffer.from(png);
  copy[at]! ^= 1;
  return copy;
}
