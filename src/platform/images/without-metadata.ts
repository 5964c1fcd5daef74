import { END_OF_IMAGE, type ImageFormat, jpegSegments, pngChunks, webpChunks } from './image-structure.ts';

/**
 * Removes what cameras and programs write about a picture: EXIF with its location, XMP, IPTC, C2PA and comments. Also
 * removes bytes after its end, such as the film of a motion photo. Colour profiles stay. Nothing is decoded or encoded.
 * @param bytes a still image that can be decoded
 * @returns `bytes` itself if there is nothing to remove
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
/** Adobe's segment says how the colours are stored, so it is kept. */
const APP14 = 0xee;
const APP15 = 0xef;
const COMMENT = 0xfe;

function keptOfJpeg(jpeg: Buffer): Buffer[] {
  const kept: Buffer[] = [];
  let from = 0;
  let to = jpeg.length;
  for (const { marker, at, end } of jpegSegments(jpeg)) {
    if (marker === END_OF_IMAGE) to = end;
    if (!isMetadata(marker, jpeg.toString('latin1', at + 4, at + 15))) continue;
    kept.push(jpeg.subarray(from, at));
    from = end;
  }
  return [...kept, jpeg.subarray(from, to)];
}

function isMetadata(marker: number, head: string): boolean {
  if (marker === COMMENT) return true;
  if (marker < APP0 || marker > APP15 || marker === APP0 || marker === APP14) return false;
  return !(marker === APP2 && head.startsWith('ICC_PROFILE'));
}

const PNG_METADATA = new Set(['eXIf', 'tEXt', 'zTXt', 'iTXt', 'tIME', 'caBX']);

function keptOfPng(png: Buffer): Buffer[] {
  const kept = [...pngChunks(png)].filter(({ type }) => !PNG_METADATA.has(type));
  return [png.subarray(0, 8), ...kept.map(({ at, end }) => png.subarray(at, end))];
}

const WEBP_METADATA = new Set(['EXIF', 'XMP ', 'C2PA']);

function keptOfWebp(webp: Buffer): Buffer[] {
  const kept = [...webpChunks(webp)].filter(({ type }) => !WEBP_METADATA.has(type));
  return [webp.subarray(0, 12), ...kept.map(({ at, end }) => webp.subarray(at, end))];
}

/** Bits of VP8X that announce EXIF and XMP. */
const HAS_METADATA = 0x0c;

function withFittingHeader(webp: Buffer): Buffer {
  webp.writeUInt32LE(webp.length - 8, 4);
  if (webp.toString('latin1', 12, 16) === 'VP8X') webp[20] &= ~HAS_METADATA;
  return webp;
}
