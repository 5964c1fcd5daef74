import sharp from 'sharp';
import { UndecodableImage } from './render-errors.ts';
import type { PicturesOrder, SourceImage } from './render-order.ts';

/** The width of the transparent rim, as a share of the shorter side. */
const RIM_SHARE = 1 / 32;

/**
 * Edits a painted picture. With `strength`, the first reference shines through. With a mask, the first reference stays
 * where the mask is black. A transparent picture gets a transparent rim.
 * @param rgba the pixels of the picture, changed in place
 * @throws UndecodableImage
 */
export async function edit(rgba: Uint8ClampedArray, order: PicturesOrder): Promise<void> {
  const { size, mask, strength, isTransparent, references } = order;
  const [first] = references;
  if (first && (strength !== undefined || mask)) {
    const before = await pixelsOf(first, size, 4);
    const painted = mask ? await pixelsOf(mask, size, 1) : null;
    blend(rgba, before, (pixel) => (painted === null || painted[pixel]! >= 128 ? (strength ?? 1) : 0));
  }
  if (isTransparent) clearRim(rgba, size);
}

/** @param share returns the share of the new picture in a pixel, 0 to 1 */
function blend(rgba: Uint8ClampedArray, before: Uint8Array, share: (pixel: number) => number): void {
  for (let at = 0; at < rgba.length; at += 1) {
    const own = share(at >> 2);
    rgba[at] = rgba[at]! * own + before[at]! * (1 - own);
  }
}

/** How many pixels at each edge are transparent. */
export const rimOf = ({ width, height }: PicturesOrder['size']): number =>
  Math.max(1, Math.round(Math.min(width, height) * RIM_SHARE));

function clearRim(rgba: Uint8ClampedArray, size: PicturesOrder['size']): void {
  const { width, height } = size;
  const rim = rimOf(size);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const isInside = x >= rim && x < width - rim && y >= rim && y < height - rim;
      if (!isInside) rgba[(y * width + x) * 4 + 3] = 0;
    }
  }
}

/**
 * The pixels of an image, scaled to the size of the picture. An image with one channel is a mask, whose edges stay
 * sharp.
 * @throws UndecodableImage
 */
async function pixelsOf(image: SourceImage, { width, height }: PicturesOrder['size'], channels: 1 | 4) {
  try {
    const kernel = channels === 1 ? 'nearest' : 'lanczos3';
    const scaled = sharp(image.path).autoOrient().resize({ width, height, fit: 'fill', kernel });
    return await (channels === 1 ? scaled.greyscale().removeAlpha() : scaled.toColourspace('srgb').ensureAlpha())
      .raw({ depth: 'uchar' })
      .toBuffer();
  } catch (cause) {
    throw new UndecodableImage(image.param, cause);
  }
}
