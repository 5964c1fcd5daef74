import { crc32 } from 'node:zlib';

export interface PngSize {
  /** Pixels. */
  width: number;
  height: number;
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const FIRST_CHUNK = Buffer.from('0000000d49484452', 'hex'); // 13 bytes, IHDR
const END_OF_HEADER = 33;

/** The allowed bits per sample, by colour type (PNG, third edition, 11.2.1), without palettes. */
const DEPTHS: Record<number, readonly number[]> = { 0: [1, 2, 4, 8, 16], 2: [8, 16], 4: [8, 16], 6: [8, 16] };

/** The largest side in pixels. It is below the limits of sharp, which refuses larger pictures. */
const MAX_SIDE = 0x3fff;

const IDAT = 0x49444154;
const IEND = 0x49454e44;
const EXIF = 0x65584966;
/** The most chunks that are read. An encoder that writes chunks of 8 kB makes 4,000 of them for a picture of 32 MB. */
const MAX_CHUNKS = 10_000;

/**
 * Reads the size of a PNG from its header. A decoder would take a fifth of the processor time of a small task to read
 * it.
 *
 * @returns null where only a decoder can tell: a palette, an orientation in EXIF, anything unusual or broken
 */
export function readPngSize(png: Buffer): PngSize | null {
  if (png.length < END_OF_HEADER || !SIGNATURE.equals(png.subarray(0, 8))) return null;
  if (!FIRST_CHUNK.equals(png.subarray(8, 16)) || crc32(png.subarray(12, 29)) !== png.readUInt32BE(29)) return null;
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const [depth, colourType, compression, filter, interlace] = png.subarray(24, 29);
  if (!DEPTHS[colourType!]?.includes(depth!) || compression !== 0 || filter !== 0 || interlace !== 0) return null;
  if (Math.min(width, height) === 0 || Math.max(width, height) > MAX_SIDE) return null;
  return isPlain(png) ? { width, height } : null;
}

/** Whether the PNG has pixels, an end and no EXIF. All chunks are read, because EXIF may come after the pixels. */
function isPlain(png: Buffer): boolean {
  let hasPixels = false;
  let at = END_OF_HEADER;
  for (let nth = 0; nth < MAX_CHUNKS && at + 12 <= png.length; nth += 1) {
    const type = png.readUInt32BE(at + 4);
    if (type === IEND) return hasPixels;
    if (type === EXIF) return false;
    hasPixels ||= type === IDAT;
    at += 12 + png.readUInt32BE(at);
  }
  return false;
}
