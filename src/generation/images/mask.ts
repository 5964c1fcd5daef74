import { join } from 'node:path';
import { stat } from 'node:fs/promises';
import { type InputImage, ProviderError } from '../../providers/contract/provider.ts';

const HALF = 128;
/** How much the aspect ratios of mask and image may differ: 2 %. */
const MAX_APART = 0.02;

/**
 * Turns a client's mask into the mask that every provider gets: a grey PNG in the size of the image, white (255) where
 * the image is to change and black elsewhere. A mask with a transparent pixel (alpha below 128) is read as at OpenAI:
 * transparent pixels change. Any other mask is read as by diffusion servers: light pixels (128 or more) change.
 * @throws ProviderError reference_image_invalid when the shapes differ, nothing would change, or the mask cannot be
 *   read
 */
export async function normaliseMask(mask: InputImage, image: InputImage, folder: string): Promise<InputImage> {
  const { width, height } = image;
  const apart = (mask.width * height) / (mask.height * width);
  if (Math.max(apart, 1 / apart) > 1 + MAX_APART) {
    throw invalid(`The mask is ${mask.width}x${mask.height}, the image ${width}x${height}: the shapes differ.`);
  }
  const { default: sharp } = await import('sharp');
  const decoded = async (pipeline: ReturnType<typeof sharp>) => pipeline.raw({ depth: 'uchar' }).toBuffer();
  const scaled = () => sharp(mask.path).autoOrient().resize({ width, height, fit: 'fill', kernel: 'nearest' });
  try {
    const alpha = await decoded(scaled().toColourspace('srgb').ensureAlpha().extractChannel('alpha'));
    const isByAlpha = alpha.some((value) => value < HALF);
    const grey = isByAlpha ? alpha : await decoded(scaled().greyscale().removeAlpha().toColourspace('b-w'));
    const white = Buffer.from(grey.map((value) => (value < HALF === isByAlpha ? 255 : 0)));
    if (!white.includes(255)) throw invalid('The mask changes nothing.');
    const path = join(folder, 'mask.png');
    await sharp(white, { raw: { width, height, channels: 1 } })
      .toColourspace('b-w')
      .png()
      .toFile(path);
    return { path, size: (await stat(path)).size, contentType: 'image/png', width, height };
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    throw new ProviderError('reference_image_invalid', { param: 'mask', cause: error });
  }
}

const invalid = (message: string): ProviderError =>
  new ProviderError('reference_image_invalid', { param: 'mask', message });
