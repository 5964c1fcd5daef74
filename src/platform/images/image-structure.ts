export type ImageFormat = 'jpeg' | 'png' | 'webp';

/** Detects the three supported formats by their first bytes. */
export function imageFormat(bytes: Buffer): ImageFormat | null {
  if (bytes.toString('hex', 0, 3) === 'ffd8ff') return 'jpeg';
  if (bytes.toString('hex', 0, 8) === '89504e470d0a1a0a') return 'png';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'webp' : null;
}

export function isAnimated(bytes: Buffer, format: ImageFormat): boolean {
  if (format === 'png') return hasAnimationChunk(bytes);
  // The animation flag is bit 1 of the VP8X header's flags (RFC 9649, 2.7).
  return format === 'webp' && bytes.toString('latin1', 12, 16) === 'VP8X' && (bytes[20] & 0x02) !== 0;
}

/** An acTL chunk before the first IDAT makes a PNG an animation (PNG, third edition, 11.3.6.1). */
function hasAnimationChunk(png: Buffer): boolean {
  for (let at = 8; at + 8 <= png.length; at += 12 + png.readUInt32BE(at)) {
    const chunk = png.toString('latin1', at + 4, at + 8);
    if (chunk === 'acTL') return true;
    if (chunk === 'IDAT') return false;
  }
  return false;
}

const START_OF_SCAN = 0xda;
export const END_OF_IMAGE = 0xd9;

/**
 * The number of scans, each of which costs a decoder one pass (ISO 10918-1, B.2). Thumbnails and bytes after the end do
 * not count.
 */
export function countJpegScans(jpeg: Buffer): number {
  let scans = 0;
  let at = 2;
  while (at !== -1 && at + 4 <= jpeg.length) {
    const marker = jpeg[at + 1];
    if (jpeg[at] !== 0xff || marker === 0xff) {
      at = jpeg.indexOf(0xff, at + 1); // inside a scan, or a fill byte
    } else if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2; // an escaped 0xff inside a scan, or a marker without a length
    } else {
      if (marker === END_OF_IMAGE) break;
      if (marker === START_OF_SCAN) scans++;
      at += 2 + jpeg.readUInt16BE(at + 2);
    }
  }
  return scans;
}
