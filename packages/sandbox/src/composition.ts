import type { SKRSContext2D } from '@napi-rs/canvas';
import { choosePalette, type Palette } from './palette.ts';
import { layPrints } from './photos.ts';
import { seededRandom } from './random.ts';
import type { SourceImage } from './render-order.ts';
import { chooseScene } from './scenes/choose-scene.ts';
import type { Frame, Layer } from './scenes/scene.ts';

/**
 * Chooses palette and scene of one picture or film at random, seeded by the prompt, the model and the picture's index.
 */
export async function compose(
  frame: Frame,
  order: { model: string; text: string; references: SourceImage[]; seed?: number | undefined },
  index: number,
): Promise<{ palette: Palette; layers: Layer[] }> {
  // Seeds count on from one picture to the next, as those of the models do.
  const { text, model, seed } = order;
  const random =
    seed === undefined ? seededRandom(text, model, index) : seededRandom(text, model, 'seed', seed + index);
  const palette = choosePalette(order.text, random);
  const scene = chooseScene(order.text, random);
  const layers = scene.compose({ frame, palette, random, text: order.text });
  return { palette, layers: [...layers, ...(await layPrints(frame, order.references, random))] };
}

/** Paints a layer at its pose of this moment, but not where the layers above it, which follow in the list, hide it. */
export function paintLayer(context: SKRSContext2D, layers: readonly Layer[], index: number, seconds: number): void {
  const layer = layers[index] as Layer;
  const { width } = context.canvas;
  context.save();
  context.beginPath();
  context.rect(0, 0, width, visibleRows(context, layers.slice(index + 1), seconds));
  context.clip();
  applyPose(context, layer, seconds);
  layer.paint(context, seconds);
  context.restore();
}

/** Rows from the top of which something may show behind these layers. */
function visibleRows({ canvas }: SKRSContext2D, above: readonly Layer[], seconds: number): number {
  const hidden = above.map((layer) => (layer.hidesBelow ?? Infinity) + (layer.pose?.(seconds).y ?? 0));
  return Math.min(canvas.height, ...hidden.map((row) => Math.ceil(row) + 1)); // a row more, for the soft edge
}

function applyPose(context: SKRSContext2D, layer: Layer, seconds: number): void {
  const { x = 0, y = 0, turn = 0, zoom = 1, pivot = { x: 0, y: 0 } } = layer.pose?.(seconds) ?? {};
  context.translate(pivot.x + x, pivot.y + y);
  context.rotate(turn);
  context.scale(zoom, zoom);
  context.translate(-pivot.x, -pivot.y);
}
