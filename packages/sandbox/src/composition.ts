import type { SKRSContext2D } from '@napi-rs/canvas';
import { cameraOf } from './camera.ts';
import { choosePalette, type Palette } from './palette.ts';
import { colored, sampleColors } from './reference-colors.ts';
import { seededRandom } from './random.ts';
import type { SourceImage } from './render-order.ts';
import { chooseScene } from './scenes/choose-scene.ts';
import type { Frame, Layer } from './scenes/scene.ts';

interface Composed {
  model: string;
  text: string;
  references: SourceImage[];
  seed?: number | undefined;
  variation?: string | undefined;
  /** Only for a film: the camera moves over this time. */
  durationSeconds?: number | undefined;
}

/**
 * Chooses the palette and the scene of one picture or film at random. The prompt, the model, the given seed and the
 * picture's index seed the choice. The references give the colours. With `variation` and without `seed`, the scene and
 * the mood stay the same, but all other choices are drawn anew.
 * @throws UndecodableImage
 */
export async function compose(frame: Frame, order: Composed, index: number): Promise<Layer[]> {
  // The seeds of several pictures are consecutive numbers, as with real models.
  const { text, model, seed, variation } = order;
  const chosen =
    seed === undefined ? seededRandom(text, model, index) : seededRandom(text, model, 'seed', seed + index);
  // If a seed is given, the variation changes nothing, as with real models.
  const drawn =
    seed === undefined && variation !== undefined ? seededRandom(text, model, 'variation', variation, index) : chosen;
  const mood = choosePalette(text, chosen, drawn);
  const scene = chooseScene(text, chosen);
  const palette: Palette = colored(mood, await sampleColors(order.references));
  const camera = cameraOf(frame.width, drawn, order.durationSeconds);
  return scene.compose({ frame, palette, random: drawn, camera, text });
}

/** Paints a layer in its pose at `seconds`. Leaves out the rows that later layers of the list hide. */
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

/** The number of rows, from the top, in which something may be visible behind these layers. */
function visibleRows({ canvas }: SKRSContext2D, above: readonly Layer[], seconds: number): number {
  const hidden = above.map((layer) => (layer.hidesBelow ?? Infinity) + (layer.pose?.(seconds).y ?? 0));
  return Math.min(canvas.height, ...hidden.map((row) => Math.ceil(row) + 1)); // one row more, for the soft edge
}

function applyPose(context: SKRSContext2D, layer: Layer, seconds: number): void {
  const { x = 0, y = 0, turn = 0, zoom = 1, pivot = { x: 0, y: 0 } } = layer.pose?.(seconds) ?? {};
  context.translate(pivot.x + x, pivot.y + y);
  context.rotate(turn);
  context.scale(zoom, zoom);
  context.translate(-pivot.x, -pivot.y);
}
