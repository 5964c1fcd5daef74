import sharp, { type Metadata } from 'sharp';
import { countJpegScans, imageFormat, isAnimated } from './image-structure.ts';
import type { InputImage } from '../../providers/provider.ts';

/** As one 8K picture, 7680 x 4320 = 33.2 million, with a little room. */
const MAX_PIXELS = 33_500_000;

/**
 * What a decoder may have to hold at once. Only JPEG of several scans (all coefficients) and interlaced PNG (all pixels) need
 * so much; what lies above is 33 megapixels of CMYK in scans or of interlaced 16-bit RGBA: 276 and 284 MB measured.
 */
const MAX_HELD_BYTES = 210_000_000;

/**
 * Encoders write about 10 scans. Each costs a pass over the whole picture, 16 ms at 33 megapixels, and may take as little
 * as 50 bytes: a file of 330 kB with 2,600 of them took 36 s.
 */
const MAX_JPEG_SCANS = 64;

/** The bytes are not a still JPEG, PNG or WebP that can be decoded within our bounds. */
export class NotAStillImage extends Error {}

/**
 * Checks an image by its bytes, whatever its sender called it: signature, stillness, dimensions and cost before anything is
 * decoded, then a full decode, one at a time in this process. The dearest picture that gets so far adds about 205 MB
 * (progressive JPEG) and takes 1.3 s.
 * @param signal spares the decode if it aborts before its turn
 * @throws NotAStillImage; the reason of the signal
 */
export async function readStillImage(bytes: Buffer, signal: AbortSignal): Promise<InputImage> {
  const format = imageFormat(bytes);
  if (!format) throw new NotAStillImage('not a JPEG, PNG or WebP');
  if (isAnimated(bytes, format)) throw new NotAStillImage('animated');
  const scans = format === 'jpeg' ? countJpegScans(bytes) : 0;
  if (scans > MAX_JPEG_SCANS) throw new NotAStillImage('too many scans');
  try {
    const metadata = await sharp(bytes, { limitInputPixels: MAX_PIXELS }).metadata();
    if (metadata.format !== format || (metadata.pages ?? 1) > 1) throw new NotAStillImage('not what it looks like');
    if (heldBytes(metadata, scans) > MAX_HELD_BYTES) throw new NotAStillImage('too costly to decode');
    await decodeAlone(bytes, signal);
    const { width, height } = metadata.autoOrient;
    return { bytes, contentType: `image/${format}`, width, height };
  } catch (error) {
    if (error instanceof NotAStillImage || signal.aborted) throw error;
    throw new NotAStillImage('cannot be decoded', { cause: error });
  }
}

function heldBytes({ isProgressive, width, height, channels, depth }: Metadata, jpegScans: number): number {
  if (!isProgressive && jpegScans < 2) return 0;
  return width * height * channels * (jpegScans > 0 || depth === 'ushort' ? 2 : 1);
}

let lastDecode: Promise<unknown> = Promise.resolve();

/** Decodes every pixel and keeps none. */
async function decodeAlone(bytes: Buffer, signal: AbortSignal): Promise<void> {
  const turn = lastDecode.then(() => {
    signal.throwIfAborted();
    const image = sharp(bytes, { limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn: 'error' });
    return image.resize(8, 8).raw().toBuffer();
  });
  lastDecode = turn.catch(() => {});
  await turn;
}
