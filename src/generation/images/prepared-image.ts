import type { StillImage } from '../../platform/images/still-image.ts';
import { withoutMetadata } from '../../platform/images/without-metadata.ts';
import { onWhite } from '../../platform/images/on-white.ts';

type ContentType = StillImage['contentType'];
type Format = 'jpeg' | 'png' | 'webp';

/** The quality of a JPEG or WebP that is encoded again. The loss cannot be seen. */
const QUALITY = 95;

/**
 * A picture as providers get it. Its pixels are turned upright, because many providers ignore the orientation in EXIF.
 * EXIF and XMP are removed, because they may tell of people and places. Call this for one image at a time, because
 * turning needs all pixels in memory.
 * @param maxBytes the most bytes of a turned picture; a larger one becomes a JPEG, on white where it is transparent
 */
export async function preparedImage(
  bytes: Buffer,
  { contentType }: StillImage,
  maxBytes: number,
): Promise<{ bytes: Buffer; contentType: ContentType }> {
  const format = contentType.slice('image/'.length) as Format;
  const { default: sharp } = await import('sharp');
  const { orientation = 1 } = await sharp(bytes).metadata();
  if (orientation === 1) return { bytes: withoutMetadata(bytes, format), contentType };
  const turned = await encoded(bytes, format);
  if (turned.length <= maxBytes) return { bytes: turned, contentType };
  return { bytes: await encoded(bytes, 'jpeg'), contentType: 'image/jpeg' };
}

/** Encodes the upright picture without metadata, in sRGB. */
async function encoded(bytes: Buffer, format: Format): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const upright = sharp(bytes).autoOrient();
  if (format === 'png') return upright.png().toBuffer();
  if (format === 'webp') return upright.webp({ quality: QUALITY }).toBuffer();
  return onWhite(upright).jpeg({ quality: QUALITY, chromaSubsampling: '4:4:4' }).toBuffer();
}
