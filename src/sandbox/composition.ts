import type { SKRSContext2D } from '@napi-rs/canvas';
import { choosePalette, type Palette } from './palette.ts';
import { layPrints } from './photos.ts';
import { seededRandom } from './random.ts';
import type { SourceImage } from './render-order.ts';
import { chooseScene } from './scenes/choose-scene.ts';
import type { Frame, Layer } from './scenes/scene.ts';

/** Everything chance decides about one picture or film, out of the prompt, the model and the number of the picture. */
export async function compose(
  frame: Frame,
  asked: { model: string; text: string; references: SourceImage[] },
  index: number,
): Promise<{ palette: Palette; layers: Layer[] }> {
  const random = seededRandom(asked.text, asked.model, index);
  const palette = choosePalette(asked.text, random);
  const scene = chooseScene(asked.text, random);
  const layers = scene.compose(frame, palette, random, asked.text);
  return { palette, layers: [...layers, ...(await layPrints(frame, asked.references, random))] };
}

/** Sets the context so that what is painted stands where the layer is at this moment. Call between save and restore. */
export function applyPose(context: SKRSContext2D, layer: Layer, seconds: number): void {
  const { x = 0, y = 0, turn = 0, zoom = 1, pivot = { x: 0, y: 0 } } = layer.pose?.(seconds) ?? {};
  context.translate(pivot.x + x, pivot.y + y);
  context.rotate(turn);
  context.scale(zoom, zoom);
  context.translate(-pivot.x, -pivot.y);
}
