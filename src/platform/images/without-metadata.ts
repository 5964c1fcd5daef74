import { END_OF_IMAGE, type ImageFormat } from './image-structure.ts';

/**
 * The same picture without what cameras and programs write about it: EXIF with its place, XMP, IPTC, C2PA and comments.
 * Bytes behind its end go too, such as the film of a motion photo. Colour profiles stay. Nothing is decoded or encoded.
 * @param bytes a still image that can be decoded
 * @returns `bytes` itself if there is nothing of that kind
 */
export function withoutMetadata(bytes: Buffer, format: ImageFormat): Buffer {
  const kept = { jpeg: keptOfJpeg, png: keptOfPng, webp: keptOfWebp }[format](bytes);
  const length = kept.reduce((sum, part) => sum + part.length, 0);
  if (length === bytes.length) return bytes;
  const clean = Buffer.concat(kept);
  return format === 'webp' ? withFittingHeader(clean) : clean;
}

const APP0 = 0xe0;
const APP2 = 0xe2;
/** Adobe's segment says how the colours are stored. */
const APP14 = 0xee;
const APP15 = 0xef;
const COMMENT = 0xfe;

/** Segments until the end of the image (ISO 10918-1, B.1.1). */
function keptOfJpeg(jpeg: Buffer): Buffer[] {
  const kept: Buffer[] = [];
  let from = 0;
  let at = 2;
  while (at !== -1 && at + 4 <= jpeg.length) {
    const marker = jpeg[at + 1]!;
    if (jpeg[at] !== 0xff || marker === 0xff) {
      at = jpeg.indexOf(0xff, at + 1); // inside a scan, or a fill byte
    } else if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2; // an escaped 0xff inside a scan, or a marker without a length
    } else {
      if (marker === END_OF_IMAGE) return [...kept, jpeg.subarray(from, at + 2)];
      const end = at + 2 + jpeg.readUInt16BE(at + 2);
      if (isMetadata(marker, jpeg.toString('latin1', at + 4, at + 15))) {
        kept.push(jpeg.subarray(from, at));
        from = end;
      }
      at = end;
    }
  }
  return [...kept, jpeg.subarray(from)];
}

function isMetadata(marker: number, head: string): boolean {
  if (marker === COMMENT) return true;
  if (marker < APP0 || marker > APP15 || marker === APP0 || marker === APP14) return false;
  return !(marker === APP2 && head.startsWith('ICC_PROFILE'));
}

const PNG_METADATA = new Set(['eXIf', 'tEXt', 'zTXt', 'iTXt', 'tIME', 'caBX']);

/** Chunks (PNG, third edition, 5.3). */
function keptOfPng(png: Buffer): Buffer[] {
  const kept = [png.subarray(0, 8)];
  for (let at = 8; at + 12 <= png.length;) {
    const end = at + 12 + png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    if (!PNG_METADATA.has(type)) kept.push(png.subarray(at, end));
    if (type === 'IEND') break;
    at = end;
  }
  return kept;
}

const WEBP_METADATA = new Set(['EXIF', 'XMP ', 'C2PA']);

/** Chunks (RFC 9649, 2.3), each padded to an even length. */
function keptOfWebp(webp: Buffer): Buffer[] {
  const kept = [webp.subarray(0, 12)];
  const end = Math.min(webp.length, 8 + webp.readUInt32LE(4));
  for (let at = 12; at + 8 <= end;) {
    const size = webp.readUInt32LE(at + 4);
    const next = at + 8 + size + (size % 2);
    if (!WEBP_METADATA.has(webp.toString('latin1', at, at + 4))) kept.push(webp.subarray(at, next));
    at = next;
  }
  return kept;
}

/** Bits of VP8X that announce EXIF and XMP. */
const HAS_METADATA = 0x0c;

function withFittingHeader(webp: Buffer): Buffer {
  webp.writeUInt32LE(webp.length - 8, 4);
  if (webp.toString('latin1', 12, 16) === 'VP8X') webp[20] &= ~HAS_METADATA;
  return webp;
}
