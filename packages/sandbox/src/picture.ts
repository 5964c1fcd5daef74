import { createCanvas } from '@napi-rs/canvas';
import sharp from 'sharp';
import { compose, paintLayer } from './composition.ts';
import { edit, rimOf } from './edit.ts';
import { layOutFilmEdge } from './film-edge.ts';
import { freePixels } from './pixels.ts';
import { type RenderControl, yieldToEventLoop } from './render-control.ts';
import type { PicturesOrder } from './render-order.ts';
import { frameOf } from './scenes/scene.ts';

// Painting takes roughly this share of a picture's time; encoding the PNG takes the rest.
const PAINTING_SHARE = 0.6;
// Level 2 takes 10 ms of CPU for 1K. Level 6 takes 15 ms for files that are a fifth smaller. Choosing a filter for each
// row takes 26 ms.
const PNG_COMPRESSION = 2;

// 2K, in one step of 40 ms or so.
const MAX_PIXELS_AT_ONCE = 2048 * 2048;

/**
 * Renders the pictures of an order one after another.
 * @param onPartial gets the early stages of each, PNGs of the same size
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
    // Skia records strokes and paints them when pixels are read. All layers at once take two thirds of the time; layer
    // by layer has shorter steps.
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
  // Frees its pixels, which sharp uses again: 1K takes a third less. 4K would take a quarter more.
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

/** The stages, from 0, that show the picture after this number of layers. Stages are spread evenly over the layers. */
function stagesAfter(painted: number, layers: number, stages: number): number[] {
  const paintedAt = (stage: number) => Math.max(1, Math.round((layers * (stage + 1)) / (stages + 1)));
  return Array.from({ length: stages }, (_, stage) => stage).filter((stage) => paintedAt(stage) === painted);
}

/** Pixels of the longer side that the first stage shows; twice as many in each that follows. */
const FIRST_STAGE_PIXELS = 48;

/** What is painted so far, out of focus: less so from stage to stage. */
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
