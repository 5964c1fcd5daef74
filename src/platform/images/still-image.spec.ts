import sharp from 'sharp';
import { costOf } from '../../../test/support/cost-of.ts';
import { pngChunk } from '../../../test/support/stubs/media.ts';
import { countJpegScans } from './image-structure.ts';
import { NotAStillImage, readStillImage } from './still-image.ts';

const picture = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp({ create: { width, height, channels, background: { r: 200, g: 100, b: 50, alpha: 0.5 } } });

/** 33.495 megapixels, just within the limit. */
const largest = (channels: 3 | 4 = 3) => picture(5790, 5785, channels);

const read = (bytes: Buffer) => readStillImage(bytes);

/** A progressive JPEG with `count` valid scans of one coefficient each, more than any encoder would write. */
async function jpegOfScans(count: number): Promise<Buffer> {
  const jpeg = await picture(800, 600).jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer();
  const secondScan = jpeg.indexOf('ffda', jpeg.indexOf('ffda', 0, 'hex') + 2, 'hex');
  const scan = jpeg.subarray(secondScan, jpeg.indexOf('ffc4', secondScan, 'hex'));
  const scans = Array.from({ length: count - 1 }, (_, i) => {
    const copy = Buffer.from(scan);
    // The first scan of a coefficient carries the highest bits, each later one adds a bit.
    const bit = 13 - Math.floor(i / 189);
    copy[5] = 1 + (Math.floor(i / 63) % 3); // component
    copy[7] = copy[8] = 1 + (i % 63); // the coefficient, first and last
    copy[9] = bit === 13 ? 13 : ((bit + 1) << 4) | bit;
    return copy;
  });
  return Buffer.concat([jpeg.subarray(0, secondScan), ...scans, Buffer.from('ffd9', 'hex')]);
}

/** A PNG whose header declares a larger size than it has. */
async function pngOfPixels(width: number, height: number): Promise<Buffer> {
  const png = await picture(8, 8).png().toBuffer();
  const header = Buffer.from(png.subarray(16, 29));
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([png.subarray(0, 8), pngChunk('IHDR', header), png.subarray(33)]);
}

/** A progressive JPEG whose header declares 33.495 megapixels. */
async function largeCmyk(): Promise<Buffer> {
  const jpeg = await picture(8, 8).toColourspace('cmyk').jpeg({ progressive: true }).toBuffer();
  const frame = jpeg.indexOf('ffc2', 0, 'hex');
  jpeg.writeUInt16BE(5785, frame + 5);
  jpeg.writeUInt16BE(5790, frame + 7);
  return jpeg;
}

/** A picture with this many small parts that say nothing. */
async function ofParts(format: 'jpeg' | 'png' | 'webp', count: number): Promise<Buffer> {
  const bytes = await picture(8, 8)[format]().toBuffer();
  const many = (part: Buffer) => Buffer.concat(Array.from({ length: count }, () => part));
  if (format === 'jpeg')
    return Buffer.concat([bytes.subarray(0, 2), many(Buffer.from('fffe0002', 'hex')), bytes.subarray(2)]);
  if (format === 'png')
    return Buffer.concat([bytes.subarray(0, 33), many(pngChunk('tEXt', Buffer.alloc(0))), bytes.subarray(33)]);
  const webp = Buffer.concat([bytes, many(Buffer.from('XYZ \0\0\0\0', 'latin1'))]);
  webp.writeUInt32LE(webp.length - 8, 4);
  return webp;
}

describe('still images', () => {
  it.each(['jpeg', 'png', 'webp'] as const)(
    'may have thousands of parts, but no more than 10,000: %s',
    async (format) => {
      expect(await read(await ofParts(format, 9_000))).toMatchObject({ width: 8, height: 8 });
      await expect(read(await ofParts(format, 10_001))).rejects.toThrow('too many chunks');
    },
  );

  it.each(['jpeg', 'png', 'webp'] as const)('accepts %s, and returns its size', async (format) => {
    const bytes = await picture(64, 48).toFormat(format).toBuffer();
    expect(await read(bytes)).toEqual({ contentType: `image/${format}`, width: 64, height: 48, length: bytes.length });
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('applies EXIF orientation %i to width and height', async (orientation) => {
    const bytes = await picture(64, 48).withMetadata({ orientation }).jpeg().toBuffer();
    const { width, height } = await read(bytes);
    expect([width, height]).toEqual(orientation < 5 ? [64, 48] : [48, 64]);
  });

  it('accepts interlaced, palette, grey, 16-bit, lossless, progressive and CMYK pictures', async () => {
    const kinds = [
      picture(30, 20, 4).png({ progressive: true }),
      picture(30, 20, 4).png({ palette: true }),
      picture(30, 20).greyscale().png(),
      picture(30, 20, 4).toColourspace('rgb16').png(),
      picture(30, 20, 4).webp({ lossless: true }),
      picture(30, 20).jpeg({ progressive: true }),
      picture(30, 20).greyscale().jpeg(),
      picture(30, 20).toColourspace('cmyk').jpeg(),
    ];
    for (const kind of kinds) expect(await read(await kind.toBuffer())).toMatchObject({ width: 30, height: 20 });
  });

  it('accepts a JPEG with bytes after its end, as phones write them', async () => {
    const bytes = await picture(30, 20).jpeg().toBuffer();
    expect(await read(Buffer.concat([bytes, Buffer.alloc(5000, 'ffda', 'hex')]))).toMatchObject({ width: 30 });
  });

  it('accepts 33.5 megapixels, and refuses more without decoding', async () => {
    expect(await read(await largest().jpeg().toBuffer())).toMatchObject({ width: 5790, height: 5785 });
    const bomb = await pngOfPixels(30_000, 30_000);
    await expect(read(bomb)).rejects.toMatchObject({ cause: { message: 'Input image exceeds pixel limit' } });
  });
});

describe('bytes that are not a still image', () => {
  it.each<[string, () => Buffer | Promise<Buffer>]>([
    ['nothing', () => Buffer.alloc(0)],
    ['text', () => Buffer.from('<html></html>')],
    ['SVG', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ['GIF', () => picture(9, 9).gif().toBuffer()],
    ['AVIF', () => picture(9, 9).avif().toBuffer()],
    ['TIFF', () => picture(9, 9).tiff().toBuffer()],
    ['PDF', () => Buffer.from('%PDF-1.7\n')],
    ['a JPEG signature alone', () => Buffer.from('ffd8ff', 'hex')],
    ['a PNG signature alone', () => Buffer.from('89504e470d0a1a0a', 'hex')],
    ['a WebP signature alone', () => Buffer.from('RIFF\x04\0\0\0WEBP', 'latin1')],
    ['a PNG signature before a GIF', async () => prefixed('89504e470d0a1a0a', await picture(9, 9).gif().toBuffer())],
    ['an animated WebP', animatedWebp],
    ['an animated PNG', animatedPng],
    ['half a JPEG', async () => half(await noise().jpeg().toBuffer())],
    ['half a PNG', async () => half(await noise().png().toBuffer())],
    ['half a WebP', async () => half(await noise().webp().toBuffer())],
    ['a PNG with a broken check sum', async () => spoilt(await noise().png().toBuffer())],
    ['33 megapixels of progressive CMYK', largeCmyk],
    ['a JPEG of 65 scans', () => jpegOfScans(65)],
    ['33.6 megapixels', () => pngOfPixels(5800, 5793)],
  ])('refuses %s', async (_name, make) => {
    await expect(read(await make())).rejects.toThrow(NotAStillImage);
  });

  it('counts the scans of a JPEG like a decoder', async () => {
    expect(countJpegScans(await picture(30, 20).jpeg().toBuffer())).toBe(1);
    expect(countJpegScans(await noise().jpeg({ progressive: true }).toBuffer())).toBe(10);
    expect(countJpegScans(await jpegOfScans(64))).toBe(64);
    expect(countJpegScans(await jpegOfScans(2000))).toBe(2000);
    expect(await read(await jpegOfScans(64))).toMatchObject({ width: 800, height: 600 });
  });

  it('decodes the most expensive pictures within 256 MB and 2 s each', async () => {
    const costly = [
      await largest(4).png({ progressive: true }).toBuffer(),
      await largest().jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer(),
    ];
    // Other work in this process can only add to the figures, so the best of three counts.
    const measured: { bytes: number; seconds: number }[] = [];
    const isWithin = () => {
      const { bytes, seconds } = measured.at(-1)!;
      return bytes < 256e6 && seconds / costly.length < 2;
    };
    do
      measured.push(
        await costOf(async () => {
          for (const each of costly) await read(each);
        }),
      );
    while (measured.length < 3 && !isWithin());
    expect(Math.min(...measured.map(({ bytes }) => bytes))).toBeLessThan(256e6);
    expect(Math.min(...measured.map(({ seconds }) => seconds)) / costly.length).toBeLessThan(2);
  });
});

const noise = () =>
  sharp({
    create: {
      width: 200,
      height: 200,
      channels: 3,
      background: '#000',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  });

const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

const prefixed = (hex: string, bytes: Buffer) => Buffer.concat([Buffer.from(hex, 'hex'), bytes]);

function spoilt(bytes: Buffer): Buffer {
  bytes[bytes.length >> 1] ^= 0xff;
  return bytes;
}

async function animatedWebp(): Promise<Buffer> {
  const frames = await Promise.all([picture(8, 8), noise().resize(8, 8)].map((frame) => frame.png().toBuffer()));
  return sharp(frames, { join: { animated: true } })
    .webp()
    .toBuffer();
}

async function animatedPng(): Promise<Buffer> {
  const png = await picture(8, 8).png().toBuffer();
  const control = pngChunk('acTL', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]));
  return Buffer.concat([png.subarray(0, 33), control, png.subarray(33)]);
}
