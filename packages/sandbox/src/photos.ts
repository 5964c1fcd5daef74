import { type Canvas, createCanvas, ImageData } from '@napi-rs/canvas';
import sharp from 'sharp';
import { UndecodableImage } from './render-errors.ts';
import type { SourceImage } from './render-order.ts';

// Images are seldom decoded again, so libvips' cache would only take memory.
sharp.cache(false);

/**
 * Decodes an image with its EXIF orientation, scaled and cropped to exactly this size.
 * @throws UndecodableImage
 */
export async function decodeToCover(image: SourceImage, width: number, height: number): Promise<Canvas> {
  try {
    const { data, info } = await sharp(image.path, { failOn: 'error' })
      .autoOrient()
      .resize({ width, height, fit: 'cover' })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const canvas = createCanvas(info.width, info.height);
    const pixels = new Uint8ClampedArray(data.buffer, data.byteOffset, data.byteLength);
    canvas.getContext('2d').putImageData(new ImageData(pixels, info.width, info.height), 0, 0);
    return canvas;
  } catch (error) {
    throw new UndecodableImage(image.param, error);
  }
}
