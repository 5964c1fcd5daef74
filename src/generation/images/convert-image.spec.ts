import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { convertImage, needsConversion } from './convert-image.ts';
import { probe } from './probe.ts';

const noise = (channels: 3 | 4) =>
  sharp({ create: { width: 96, height: 64, channels, background: { r: 200, g: 40, b: 90, alpha: 0 } } });
const folder = mkdtempSync(join(tmpdir(), 'convert-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the conversion of an image', () => {
  it.each(['png', 'jpeg', 'webp'] as const)('makes a %s of the same size, and only where needed', async (format) => {
    for (const from of ['png', 'jpeg', 'webp'] as const) {
      const made = await noise(3).toFormat(from).toBuffer();
      const wanted = { format, quality: 100 };
      expect(needsConversion(await probe(made), wanted)).toBe(from !== format);
      const converted = await convertImage(made, wanted);
      expect(await probe(converted)).toMatchObject({ contentType: `image/${format}`, width: 96, height: 64 });
    }
  });

  it('encodes a file that has the format already only for a lower quality', async () => {
    const jpeg = await probe(await noise(3).jpeg().toBuffer());
    expect(needsConversion(jpeg, { format: 'jpeg', quality: 100 })).toBe(false);
    expect(needsConversion(jpeg, { format: 'jpeg', quality: 60 })).toBe(true);
    const png = await probe(await noise(3).png().toBuffer());
    expect(needsConversion(png, { format: 'png', quality: 60 })).toBe(false);
  });

  it('takes fewer bytes at a lower quality, down to 0', async () => {
    const pixels = Buffer.from(Array.from({ length: 200 * 200 * 3 }, (_, at) => (at * at * 31) % 251));
    const raw = await sharp(pixels, { raw: { width: 200, height: 200, channels: 3 } })
      .png()
      .toBuffer();
    for (const format of ['jpeg', 'webp'] as const) {
      const sizes = await Promise.all(
        [0, 50, 100].map(async (quality) => ((await convertImage(raw, { format, quality })) as Buffer).length),
      );
      expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
      expect(new Set(sizes).size).toBe(3);
    }
  });

  it('puts a transparent image on white for JPEG, and keeps it transparent for WebP', async () => {
    const png = await noise(4).png().toBuffer();
    const jpeg = await convertImage(png, { format: 'jpeg', quality: 100 });
    expect(
      (
        await sharp(jpeg as Buffer)
          .raw()
          .toBuffer()
      ).subarray(0, 3),
    ).toEqual(Buffer.from([255, 255, 255]));
    const webp = await convertImage(png, { format: 'webp', quality: 100 });
    expect((await sharp(webp as Buffer).metadata()).hasAlpha).toBe(true);
  });

  it('keeps XMP and EXIF, and turns the pixels upright', async () => {
    const xmp =
      '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>';
    const made = await noise(3)
      .withExif({ IFD0: { Software: 'the provider' } })
      .withXmp(xmp)
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const converted = (await convertImage(made, { format: 'webp', quality: 90 })) as Buffer;
    const { width, height, orientation = 1, exif, xmpAsString } = await sharp(converted).metadata();
    expect([width, height, orientation]).toEqual([64, 96, 1]);
    expect(exif?.toString('latin1')).toContain('the provider');
    expect(xmpAsString).toContain('adobe:ns:meta');
  });

  it('replaces a file in its place', async () => {
    const path = join(folder, 'picture-0');
    writeFileSync(path, await noise(3).png().toBuffer());
    expect(await convertImage({ path }, { format: 'webp', quality: 80 })).toEqual({ path });
    expect((await sharp(readFileSync(path)).metadata()).format).toBe('webp');
    expect(await readdir(folder)).toEqual(['picture-0']);
  });

  it('fails with internal_error when there is no image', async () => {
    const failed = convertImage(Buffer.from('no image'), { format: 'webp', quality: 80 });
    await expect(failed).rejects.toMatchObject({ code: 'internal_error' });
  });
});
