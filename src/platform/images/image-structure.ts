export type ImageFormat = 'jpeg' | 'png' | 'webp';

/** Detects the three supported formats by their first bytes. Returns null for any other format. */
export function imageFormat(bytes: Buffer): ImageFormat | null {
  if (bytes.toString('hex', 0, 3) === 'ffd8ff') return 'jpeg';
  if (bytes.toString('hex', 0, 8) === '89504e470d0a1a0a') return 'png';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'webp' : null;
}

/** Maximum number of chunks or segments of a picture. Encoders write some thousand at most. */
const MAX_PARTS = 10_000;

/** Whether a picture has more than `MAX_PARTS` chunks or segments: loops over so many would take too long. */
export function hasTooManyParts(bytes: Buffer, format: ImageFormat): boolean {
  const parts = { jpeg: jpegSegments, png: pngChunks, webp: webpChunks }[format](bytes);
  let count = 0;
  while (!parts.next().done) if (++count > MAX_PARTS) return true;
  return false;
}

export function isAnimated(bytes: Buffer, format: ImageFormat): boolean {
  if (format === 'png') return hasAnimationChunk(bytes);
  // The animation flag is bit 1 of the VP8X header's flags (RFC 9649, 2.7).
  return format === 'webp' && bytes.toString('latin1', 12, 16) === 'VP8X' && (bytes[20] & 0x02) !== 0;
}

/** An acTL chunk before the first IDAT makes a PNG an animation (PNG, third edition, 11.3.6.1). */
function hasAnimationChunk(png: Buffer): boolean {
  for (const { type } of pngChunks(png)) {
    if (type === 'acTL') return true;
    if (type === 'IDAT') return false;
  }
  return false;
}

interface Chunk {
  type: string;
  at: number;
  end: number;
}

/**
 * The chunks up to IEND, the last one (PNG, third edition, 5.3 and 11.2.5). For a cut chunk, `end` lies beyond the
 * bytes.
 */
export function* pngChunks(png: Buffer): Generator<Chunk> {
  for (let at = 8; at + 8 <= png.length;) {
    const type = png.toString('latin1', at + 4, at + 8);
    const end = at + 12 + png.readUInt32BE(at);
    yield { type, at, end };
    if (type === 'IEND') return;
    at = end;
  }
}

const START_OF_SCAN = 0xda;
export const END_OF_IMAGE = 0xd9;

/** How many bytes the picture has. Bytes after its end, such as the film of a motion photo, do not count. */
export function imageLength(bytes: Buffer, format: ImageFormat): number {
  if (format === 'jpeg') return readJpeg(bytes).length;
  return Math.min(bytes.length, format === 'png' ? pngLength(bytes) : webpLength(bytes));
}

function pngLength(png: Buffer): number {
  for (const { type, end } of pngChunks(png)) if (type === 'IEND') return end;
  return png.length;
}

/** The number after `RIFF` is the size of all that follows the number (RFC 9649, 2.4). */
const webpLength = (webp: Buffer): number => 8 + webp.readUInt32LE(4);

/** Counts scans, because each costs a decoder one pass. Thumbnails and bytes after the end do not count. */
export const countJpegScans = (jpeg: Buffer): number => readJpeg(jpeg).scans;

/** If a picture has no end marker, its length is that of all bytes. */
function readJpeg(jpeg: Buffer): { scans: number; length: number } {
  let scans = 0;
  for (const { marker, end } of jpegSegments(jpeg)) {
    if (marker === END_OF_IMAGE) return { scans, length: end };
    if (marker === START_OF_SCAN) scans++;
  }
  return { scans, length: jpeg.length };
}

interface JpegSegment {
  marker: number;
  at: number;
  end: number;
}

/** The segments up to the end of the image (ISO 10918-1, B.1.1 and B.2). */
export function* jpegSegments(jpeg: Buffer): Generator<JpegSegment> {
  for (let at = 2; at !== -1 && at + 4 <= jpeg.length;) {
    const marker = jpeg[at + 1]!;
    if (jpeg[at] !== 0xff) {
      at = jpeg.indexOf(0xff, at + 1); // inside a scan
    } else if (marker === 0xff) {
      at += 1; // a fill byte
    } else if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2; // an escaped 0xff inside a scan, or a marker without a length
    } else {
      const isEnd = marker === END_OF_IMAGE;
      const end = at + 2 + (isEnd ? 0 : jpeg.readUInt16BE(at + 2));
      yield { marker, at, end };
      if (isEnd) return;
      at = end;
    }
  }
}

/** The chunks after the head (RFC 9649, 2.3). Each is padded to an even length. */
export function* webpChunks(webp: Buffer): Generator<Chunk> {
  const length = Math.min(webp.length, webpLength(webp));
  for (let at = 12; at + 8 <= length;) {
    const size = webp.readUInt32LE(at + 4);
    const end = at + 8 + size + (size % 2);
    yield { type: webp.toString('latin1', at, at + 4), at, end };
    at = end;
  }
}
