import sharp from 'sharp';
import type { ImageFormat } from './image-structure.ts';
import { withoutMetadata } from './without-metadata.ts';

const PLACE = 'a secret place';
const XMP = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="${PLACE}"/></rdf:RDF></x:xmpmeta>`;

const plain = (format: ImageFormat) =>
  sharp({ create: { width: 40, height: 30, channels: 4, background: { r: 10, g: 90, b: 200, alpha: 0.5 } } })
    .withIccProfile('p3')
    .toFormat(format);

const photo = (format: ImageFormat) =>
  plain(format)
    .withExif({ IFD0: { ImageDescription: PLACE }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .withXmp(XMP)
    .toBuffer();

const pixelsOf = (bytes: Buffer) => sharp(bytes).raw().toBuffer();

describe.each<ImageFormat>(['jpeg', 'png', 'webp'])('a %s', (format) => {
  it('loses what is written about it, and nothing else', async () => {
    const bytes = await photo(format);
    expect(await sharp(bytes).metadata()).toMatchObject({ exif: expect.anything(), xmp: expect.anything() });
    const clean = withoutMetadata(bytes, format);
    expect(clean.includes(PLACE)).toBe(false);
    const metadata = await sharp(clean).metadata();
    expect([metadata.exif, metadata.xmp]).toEqual([undefined, undefined]);
    expect(metadata.icc).toEqual((await sharp(bytes).metadata()).icc);
    expect((await pixelsOf(clean)).equals(await pixelsOf(bytes))).toBe(true);
    expect(withoutMetadata(clean, format)).toBe(clean);
  });

  it('is cut at its end', async () => {
    const bytes = await plain(format).toBuffer();
    expect(withoutMetadata(bytes, format)).toBe(bytes);
    const longer = Buffer.concat([bytes, Buffer.from(PLACE)]);
    expect(withoutMetadata(longer, format).equals(bytes)).toBe(true);
  });
});

it('a JPEG of several scans loses its comment too', async () => {
  const bytes = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#a04020' } })
    .jpeg({ progressive: true })
    .toBuffer();
  const comment = Buffer.from(`\xff\xfe\x00\x10${PLACE}`, 'latin1');
  const commented = Buffer.concat([bytes.subarray(0, 2), comment, bytes.subarray(2)]);
  expect(withoutMetadata(commented, 'jpeg').equals(bytes)).toBe(true);
});
