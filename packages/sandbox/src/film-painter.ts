import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { compose, paintLayer } from './composition.ts';
import { layOutFilmEdge } from './film-edge.ts';
import { decodeToCover } from './photos.ts';
import { FRAMES_PER_SECOND } from './film-pieces.ts';
import type { FilmOrder } from './render-order.ts';
import { type Frame, frameOf, type Layer } from './scenes/scene.ts';

// The scene of a film with more pixels than this is painted in half the width and height, to limit time and memory in
// 4K. The shapes of a scene are soft, so the difference is hard to see.
const MAX_SCENE_PIXELS = 1920 * 1152;

/** Paints the parts of a frame, from bottom to top: the scene, the letters, the client's first and last picture. */
export interface FilmPainter {
  /** The factor by which the film is larger than the scene. */
  scale: 1 | 2;
  scene: SKRSContext2D;
  letters: Canvas;
  paintScene(seconds: number): void;
  /** The row of the film at which the letters begin. */
  lettersTop: number;
  /** The higher of the opacities of the client's two pictures, 0 to 1. At 1 the scene and the letters are invisible. */
  coverAt(seconds: number): number;
  /** Paints the client's pictures with their opacity, in the coordinates of the film. */
  paintCover(context: SKRSContext2D, seconds: number): void;
}

/** Prepares everything that is the same for all frames. @throws UndecodableImage */
export async function preparePainter(order: FilmOrder): Promise<FilmPainter> {
  const { width, height } = order.size;
  const scale = width * height > MAX_SCENE_PIXELS ? 2 : 1;
  const frame = frameOf(width / scale, height / scale);
  const opening = order.firstFrame ? await decodeToCover(order.firstFrame, width, height) : null;
  const ending = order.lastFrame ? await decodeToCover(order.lastFrame, width, height) : null;
  // The opening picture colours the scene, because the film fades from the picture to the scene.
  const references = order.firstFrame ? [order.firstFrame, ...order.references] : order.references;
  const layers = await compose(frame, { ...order, references }, 0);
  const paint = painterOf(frame, layers);
  const scene = createCanvas(frame.width, frame.height).getContext('2d');
  const { model, text, facts } = order;
  const measures = `${width} × ${height} · ${order.durationSeconds} S`;
  const edge = layOutFilmEdge(frameOf(width, height), { model, number: 1, title: text, measures, facts });
  const letters = createCanvas(width, height - edge.top);
  edge.paint(letters.getContext('2d'));
  const openingAt = (seconds: number) => (opening ? 1 - smooth(seconds / order.durationSeconds, 0.3, 0.62) : 0);
  const lastAt = order.durationSeconds - 1 / FRAMES_PER_SECOND;
  const endingAt = (seconds: number) => (ending ? smooth(seconds, Math.max(0, lastAt - 1), lastAt) : 0);

  return {
    scale,
    scene,
    letters,
    paintScene: (seconds) => paint(scene, seconds),
    lettersTop: edge.top,
    coverAt: (seconds) => Math.max(openingAt(seconds), endingAt(seconds)),
    paintCover: (context, seconds) => {
      context.globalAlpha = openingAt(seconds);
      if (opening) drawZoomed(context, opening, 1 + 0.12 * (seconds / order.durationSeconds));
      context.globalAlpha = endingAt(seconds);
      if (ending) context.drawImage(ending, 0, 0);
      context.globalAlpha = 1;
    },
  };
}

/** Paints each layer with `plate` only once and then copies it. All other layers are painted for each frame. */
function painterOf(frame: Frame, layers: Layer[]): (context: SKRSContext2D, seconds: number) => void {
  for (const layer of layers) layer.prepare?.();
  const prepared = layers.map((layer) => (layer.plate ? platedLayer(frame, layer) : layer));
  return (context, seconds) => {
    for (const i of prepared.keys()) paintLayer(context, prepared, i, seconds);
  };
}

function platedLayer({ width, height }: Frame, layer: Layer): Layer {
  const plate = createCanvas(width, height);
  const painting = plate.getContext('2d');
  layer.paint(painting, 0);
  painting.getImageData(0, 0, 1, 1); // reading a pixel paints the recorded strokes; else each copy would paint them
  return { paint: (context) => context.drawImage(plate, 0, 0) };
}

function drawZoomed(context: SKRSContext2D, picture: Canvas, zoom: number): void {
  const { width, height } = picture;
  context.drawImage(picture, (width * (1 - zoom)) / 2, (height * (1 - zoom)) / 2, width * zoom, height * zoom);
}

/** 0 before `from`, 1 after `to`, and a smooth curve in between. */
function smooth(at: number, from: number, to: number): number {
  const share = Math.min(1, Math.max(0, (at - from) / (to - from)));
  return share * share * (3 - 2 * share);
}
