import { crc32 } from 'node:zlib';

export interface PngSize {
  /** Pixels. */
  width: number;
  height: number;
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const FIRST_CHUNK = Buffer.from('0000000d49484452', 'hex'); // 13 bytes, IHDR
const END_OF_HEADER = 33;

/** Bits a sample by colour type (PNG, third edition, 11.2.1), without palettes. */
const DEPTHS: Record<number, readonly number[]> = { 0: [1, 2, 4, 8, 16], 2: [8, 16], 4: [8, 16], 6: [8, 16] };

/** The bound of sharp, which refuses a larger picture. */
const MAX_PIXELS = 0x3fff * 0x3fff;

/**
 * The size of a PNG by its header. A decoder's own reading takes 0.3 ms of processor time on another thread.
 * @returns null where only a decoder can tell: a palette, an orientation in EXIF, anything unusual or broken
 */
export function readPngSize(png: Buffer): PngSize | null {
  if (png.length < END_OF_HEADER || !SIGNATURE.equals(png.subarray(0, 8))) return null;
  if (!FIRST_CHUNK.equals(png.subarray(8, 16)) || crc32(png.subarray(12, 29)) !== png.readUInt32BE(29)) return null;
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const [depth, colourType, compression, filter, interlace] = png.subarray(24, 29);
  if (!DEPTHS[colourType!]?.includes(depth!) || compression !== 0 || filter !== 0 || interlace !== 0) return null;
  if (width === 0 || height === 0 || width * height > MAX_PIXELS) return null;
  return hasExifOrNoEnd(png) ? null : { width, height };
}

/** An eXIf chunk may stand before or behind the pixels. */
function hasExifOrNoEnd(png: Buffer): boolean {
  for (let at = END_OF_HEADER; at + 12 <= png.length; at += 12 + png.readUInt32BE(at)) {
    const chunk = png.toString('latin1', at + 4, at + 8);
    if (chunk === 'IEND') return false;
    if (chunk === 'eXIf') return true;
  }
  return true;
}
