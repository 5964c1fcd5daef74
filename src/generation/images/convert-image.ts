import { rename, rm } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import { type ImageFormat, ProviderError, type ProviderOutput } from '../../providers/contract/provider.ts';
import type { Media } from './probe.ts';
import { onWhite } from '../../platform/images/on-white.ts';

/** The file format that the client asked for. */
export interface WantedFormat {
  format: ImageFormat;
  /** Percent, for JPEG and WebP. */
  quality: number;
}

/** The most pixels of an image: several times those of the largest image of any model. */
const MAX_PIXELS = 100_000_000;
const TIMEOUT_S = 60;
/** From this quality on, the colours of a JPEG keep their full resolution, which costs a third more bytes. */
const FULL_COLOUR_QUALITY = 90;

/** Whether the image lacks the wanted format, or is to be a JPEG or WebP with a quality below 100. */
export const needsConversion = ({ contentType }: Media, { format, quality }: WantedFormat): boolean =>
  contentType !== `image/${format}` || (format !== 'png' && quality < 100);

/**
 * Encodes an image again: bytes in memory into new bytes, a file in place. XMP and EXIF of the provider stay, because
 * they may say who made the image. Call this for one image at a time: a 4K image takes some 30 MB, although it is
 * decoded line by line.
 * @throws ProviderError internal_error when the image cannot be decoded, encoded or written
 */
export async function convertImage(output: ProviderOutput, wanted: WantedFormat): Promise<ProviderOutput> {
  const options = { limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn: 'none' as const };
  const { default: sharp } = await import('sharp');
  const image = sharp(Buffer.isBuffer(output) ? output : output.path, options).timeout({ seconds: TIMEOUT_S });
  const encoded = encode(image.autoOrient().keepExif().keepXmp(), wanted);
  try {
    if (Buffer.isBuffer(output)) return await encoded.toBuffer();
    const draft = `${output.path}.converted`;
    try {
      await encoded.toFile(draft);
      await rename(draft, output.path);
    } finally {
      await rm(draft, { force: true });
    }
    return output;
  } catch (error) {
    throw new ProviderError('internal_error', { cause: error });
  }
}

function encode(image: Sharp, { format, quality: percent }: WantedFormat): Sharp {
  const quality = Math.max(1, percent); // the encoders take no lower quality
  if (format === 'png') return image.png({ compressionLevel: 6 });
  if (format === 'webp') return image.webp({ quality });
  const chromaSubsampling = quality >= FULL_COLOUR_QUALITY ? '4:4:4' : '4:2:0';
  return onWhite(image).jpeg({ quality, chromaSubsampling });
}
