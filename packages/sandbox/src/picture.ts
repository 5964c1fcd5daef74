import { createCanvas } from '@napi-rs/canvas';
import sharp from 'sharp';
import { compose, paintLayer } from './composition.ts';
import { edit, rimOf } from './edit.ts';
import { layOutFilmEdge } from './film-edge.ts';
import { freePixels } from './pixels.ts';
import { type RenderControl, yieldToEventLoop } from './render-control.ts';
import type { PicturesOrder } from './render-order.ts';
import { frameOf } from './scenes/scene.ts';

// Painting takes about this share of the time of a picture. Encoding the PNG takes the rest.
const PAINTING_SHARE = 0.6;
// Level 2 takes 10 ms of CPU for a 1K picture. Level 6 takes 15 ms, and its files are a fifth smaller. Choosing a
// filter for each row takes 26 ms.
const PNG_COMPRESSION = 2;

// The pixels of a 2K picture, which are painted in one step of about 40 ms.
const MAX_PIXELS_AT_ONCE = 2048 * 2048;

/**
 * Renders the pictures of an order one after another.
 * @param onPartial gets the early stages of each picture, as PNGs of the final size
 * @returns PNGs
 */
export async function renderPictures(
  order: PicturesOrder,
  control: RenderControl,
  onPartial: (png: Uint8Array) => void,
): Promise<Uint8Array[]> {
  const pictures: Uint8Array[] = [];
  for (let index = 0; index < order.count; index++) {
    const reportProgress = (share: number) => control.reportProgress((index + share) / order.count);
    pictures.push(await renderPicture(order, index, { reportProgress, onPartial }));
    await yieldToEventLoop();
  }
  return pictures;
}

interface Listeners {
  reportProgress: (share: number) => void;
  onPartial: (png: Uint8Array) => void;
}

async function renderPicture(
  order: PicturesOrder,
  index: number,
  { reportProgress, onPartial }: Listeners,
): Promise<Uint8Array> {
  const { width, height } = order.size;
  const frame = frameOf(width, height);
  const layers = await compose(frame, order, index);
  reportProgress(0);
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  for (const i of layers.keys()) {
    paintLayer(context, layers, i, 0);
    // Skia records strokes, and paints them when pixels are read. Painting all layers at once takes a third less time
    // than painting layer by layer. A large picture is still painted layer by layer, so that no step takes long.
    if (width * height > MAX_PIXELS_AT_ONCE) context.getImageData(0, 0, 1, 1);
    reportProgress((PAINTING_SHARE * (i + 1)) / (layers.length + 1));
    for (const stage of stagesAfter(i + 1, layers.length, order.partials)) {
      onPartial(await coarse(context.getImageData(0, 0, width, height).data, order.size, stage));
    }
  }
  const { model, text, facts } = order;
  const edge = layOutFilmEdge(frame, {
    model,
    number: index + 1,
    title: text,
    measures: `${width} × ${height}`,
    facts,
    hiddenRows: order.isTransparent ? rimOf(order.size) : 0,
  });
  context.translate(0, edge.top);
  edge.paint(context);
  const { data } = context.getImageData(0, 0, width, height);
  // Frees the pixels of the canvas, so that sharp uses their memory. A 1K picture then takes a third less time, but a
  // 4K picture would take a quarter more.
  if (width * height <= MAX_PIXELS_AT_ONCE) canvas.width = canvas.height = 1;
  reportProgress(PAINTING_SHARE);
  await edit(data, order);
  const painted = sharp(data, { raw: { width, height, channels: 4 } });
  const png = await (order.isTransparent ? painted : painted.removeAlpha())
    .png({ compressionLevel: PNG_COMPRESSION })
    .toBuffer();
  freePixels(data);
  reportProgress(1);
  return png;
}

/**
 * The stages (from 0) that show the picture after this number of layers. The stages are spread evenly over the layers.
 */
function stagesAfter(painted: number, layers: number, stages: number): number[] {
  const paintedAt = (stage: number) => Math.max(1, Math.round((layers * (stage + 1)) / (stages + 1)));
  return Array.from({ length: stages }, (_, stage) => stage).filter((stage) => paintedAt(stage) === painted);
}

/** Pixels of the longer side in the first stage. Each later stage has twice as many. */
const FIRST_STAGE_PIXELS = 48;

/** The picture painted so far, blurred. Each stage is less blurred than the one before. */
async function coarse(rgba: Uint8ClampedArray, size: PicturesOrder['size'], stage: number): Promise<Uint8Array> {
  const { width, height } = size;
  const side = FIRST_STAGE_PIXELS * 2 ** stage;
  const { data, info } = await sharp(rgba, { raw: { width, height, channels: 4 } })
    .removeAlpha()
    .resize({ width: side, height: side, fit: 'inside' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  freePixels(rgba);
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 3 } })
    .resize({ width, height, fit: 'fill', kernel: 'cubic' })
    .png({ compressionLevel: PNG_COMPRESSION })
    .toBuffer();
}
