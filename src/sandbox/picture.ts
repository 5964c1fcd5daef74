import { createCanvas } from '@napi-rs/canvas';
import sharp from 'sharp';
import { compose, applyPose } from './composition.ts';
import { letter } from './lettering.ts';
import type { PicturesOrder } from './render-order.ts';
import { frameOf } from './scenes/scene.ts';
import { turn, type Watch } from './render-watch.ts';

// Painting's share of a picture's time, roughly; packing the PNG takes the rest.
const PAINTED = 0.6;

/** Paints the pictures of an order, one after another. @returns PNGs */
export async function renderPictures(order: PicturesOrder, watch: Watch): Promise<Uint8Array[]> {
  const pictures: Uint8Array[] = [];
  for (let index = 0; index < order.count; index++) {
    pictures.push(await renderPicture(order, index, (share) => watch.reached((index + share) / order.count)));
    await turn();
  }
  return pictures;
}

async function renderPicture(
  order: PicturesOrder,
  index: number,
  reached: (share: number) => void,
): Promise<Uint8Array> {
  const { width, height } = order.size;
  const frame = frameOf(width, height);
  const { palette, layers } = await compose(frame, order, index);
  reached(0);
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  for (const [i, layer] of layers.entries()) {
    context.save();
    applyPose(context, layer, 0);
    layer.paint(context, 0);
    context.restore();
    // Skia notes strokes down and paints when asked for pixels: one pixel keeps the pieces of work small.
    context.getImageData(0, 0, 1, 1);
    reached((PAINTED * (i + 1)) / (layers.length + 1));
  }
  const note = `${order.model}  ·  ${width} × ${height}${order.count > 1 ? `  ·  ${index + 1} / ${order.count}` : ''}`;
  const { canvas: letters, top } = letter(frame, palette, order.text, note.toUpperCase());
  context.drawImage(letters, 0, top);
  const { data } = context.getImageData(0, 0, width, height);
  reached(PAINTED);
  const png = await sharp(data, { raw: { width, height, channels: 4 } })
    .removeAlpha()
    .png({ compressionLevel: 6 })
    .toBuffer();
  reached(1);
  return png;
}
