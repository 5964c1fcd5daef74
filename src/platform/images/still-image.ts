import type { Metadata } from 'sharp';
import { countJpegScans, hasTooManyParts, imageFormat, imageLength, isAnimated } from './image-structure.ts';

/** A little more than one 8K picture: 7680 x 4320 = 33.2 million. */
const MAX_PIXELS = 33_500_000;

/**
 * The most memory that a decoder may need at once. Only two kinds of images come near this limit: a JPEG with several
 * scans, whose coefficients are all in memory, and an interlaced PNG, whose pixels are. The limit refuses 33 megapixels
 * of CMYK in several scans (276 MB measured) and 33 megapixels of interlaced 16-bit RGBA (284 MB).
 */
const MAX_DECODER_BYTES = 210_000_000;

/**
 * Encoders write about 10 scans. Each scan costs a pass over the whole picture, 16 ms at 33 megapixels. A scan may be
 * only 50 bytes long: a file of 330 kB with 2,600 scans took 36 s.
 */
const MAX_JPEG_SCANS = 64;

/** Counts from the start of the decode. The wait before it does not count. */
const DECODE_TIMEOUT_S = 60;

export interface StillImage {
  contentType: 'image/jpeg' | 'image/png' | 'image/webp';
  /** Pixels as shown, after the rotation that EXIF asks for. */
  width: number;
  height: number;
  /** Bytes of the picture, without what follows its end. */
  length: number;
}

/** The bytes are not a still JPEG, PNG or WebP that can be decoded within the limits. */
export class NotAStillImage extends Error {}

/**
 * Checks an image by its bytes, and ignores the declared type. Checks format, animation, dimensions and the cost of a
 * decode, and decodes nothing but the header.
 * @throws NotAStillImage
 */
export async function inspectStillImage(bytes: Buffer): Promise<StillImage> {
  const format = imageFormat(bytes);
  if (!format) throw new NotAStillImage('not a JPEG, PNG or WebP');
  if (hasTooManyParts(bytes, format)) throw new NotAStillImage('too many chunks');
  if (isAnimated(bytes, format)) throw new NotAStillImage('animated');
  const scans = format === 'jpeg' ? countJpegScans(bytes) : 0;
  if (scans > MAX_JPEG_SCANS) throw new NotAStillImage('too many scans');
  const { default: sharp } = await import('sharp');
  const metadata = await decoded(sharp(bytes, { limitInputPixels: MAX_PIXELS }).metadata());
  if (metadata.format !== format || (metadata.pages ?? 1) > 1)
    throw new NotAStillImage('not the format of its first bytes');
  if (metadata.width * metadata.height > MAX_PIXELS) throw new NotAStillImage('too many pixels');
  if (decoderBytes(metadata, scans) > MAX_DECODER_BYTES) throw new NotAStillImage('too expensive to decode');
  const { width, height } = metadata.autoOrient;
  return { contentType: `image/${format}`, width, height, length: imageLength(bytes, format) };
}

/**
 * Like `inspectStillImage`, and then decodes the whole image. The most expensive image that passes the checks (a
 * progressive JPEG) takes about 205 MB and 1.3 s, so call this for one image at a time.
 * @throws NotAStillImage
 */
export async function readStillImage(bytes: Buffer): Promise<StillImage> {
  const image = await inspectStillImage(bytes);
  await decoded(decode(bytes));
  return image;
}

async function decoded<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new NotAStillImage('cannot be decoded', { cause: error });
  }
}

function decoderBytes({ isProgressive, width, height, channels, depth }: Metadata, jpegScans: number): number {
  if (!isProgressive && jpegScans < 2) return 0;
  return width * height * channels * (jpegScans > 0 || depth === 'ushort' ? 2 : 1);
}

/** Decodes every pixel and discards the result. */
async function decode(bytes: Buffer): Promise<void> {
  const { default: sharp } = await import('sharp');
  const image = sharp(bytes, { limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn: 'error' });
  await image.timeout({ seconds: DECODE_TIMEOUT_S }).resize(8, 8).raw().toBuffer();
}
