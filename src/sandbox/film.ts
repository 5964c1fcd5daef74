import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { open, writeFile } from 'node:fs/promises';
import { applyPose, compose } from './composition.ts';
import { drawLettering } from './lettering.ts';
import { finishMp4 } from './mp4.ts';
import { decodeToCover } from './photos.ts';
import { type RenderControl, yieldToEventLoop } from './render-control.ts';
import type { FilmOrder } from './render-order.ts';
import { type Frame, frameOf, type Layer } from './scenes/scene.ts';
import { writeRows } from './yuv.ts';

export const FRAMES_PER_SECOND = 24;

// Scenes are painted in at most this many pixels and enlarged. Their shapes are soft, and time and memory stay bounded in 4K.
const MAX_SCENE_PIXELS = 1920 * 1152;
// The full size is composed in bands of this many rows: a film of 3840x3840 then peaks at 450 MB, instead of 670 MB with whole frames.
const BAND_ROWS = 270;
// Pixels of the longest side. Larger films have a smaller still.
const MAX_STILL_SIDE = 1920;
const STILL_QUALITY = 85;

/** Paints one frame: first `paintScene`, then `paintOver` once a band, from the top down. */
interface Painter {
  paintScene(seconds: number): void;
  /** Paints over the band in the coordinates of the whole frame. */
  paintOver(context: SKRSContext2D, seconds: number): void;
}

/** Renders the film of an order into its file. */
export async function renderFilm(order: FilmOrder, control: RenderControl): Promise<void> {
  const file = await open(order.path, 'wx'); // opened first, so that a full or read-only disk fails before the work
  try {
    await file.writev(finishMp4(await encode(order, control)));
  } finally {
    await file.close();
  }
  control.reportProgress(1);
}

/** @returns the MP4 as the encoder writes it */
async function encode(order: FilmOrder, control: RenderControl): Promise<Uint8Array> {
  const { width, height } = order.size;
  const frameCount = Math.round(order.durationSeconds * FRAMES_PER_SECOND);
  const painter = await preparePainter(order);
  await writeFile(order.stillPath, await stillOf(order, painter));
  control.reportProgress(0);

  // Loaded only for films: the module installs handlers for the process's errors.
  const { default: h264 } = await import('h264-mp4-encoder');
  const encoder = await h264.createH264MP4Encoder();
  encoder.width = width;
  encoder.height = height;
  encoder.frameRate = FRAMES_PER_SECOND;
  encoder.groupOfPictures = 2 * FRAMES_PER_SECOND;
  encoder.quantizationParameter = 22; // above 25 or so, skies show blocks
  encoder.speed = 10; // 42 ms of CPU a frame in 720p, drawing included; 8 takes 64 ms and looks the same
  encoder.initialize();
  const band = createCanvas(width, BAND_ROWS).getContext('2d');
  const yuv = new Uint8Array((width * height * 3) / 2);
  for (let i = 0; i < frameCount; i++) {
    const seconds = i / FRAMES_PER_SECOND;
    painter.paintScene(seconds);
    for (let top = 0; top < height; top += BAND_ROWS) {
      band.setTransform(1, 0, 0, 1, 0, -top);
      painter.paintOver(band, seconds);
      const rgba = band.getImageData(0, 0, width, Math.min(BAND_ROWS, height - top)).data;
      writeRows({ yuv, width, height }, rgba, top);
      await yieldToEventLoop();
    }
    encoder.addFrameYuv(yuv);
    control.reportProgress((i + 1) / (frameCount + 1));
  }
  encoder.finalize();
  return encoder.FS.readFile(encoder.outputFilename, { encoding: 'binary' }) as Uint8Array;
}

/** The first frame as WebP. */
async function stillOf({ size }: FilmOrder, painter: Painter): Promise<Buffer> {
  const scale = Math.min(1, MAX_STILL_SIDE / Math.max(size.width, size.height));
  const canvas = createCanvas(Math.round(size.width * scale), Math.round(size.height * scale));
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  painter.paintScene(0);
  painter.paintOver(context, 0);
  return canvas.encode('webp', STILL_QUALITY);
}

/** Does everything that is the same for all frames. */
async function preparePainter(order: FilmOrder): Promise<Painter> {
  const { width, height } = order.size;
  const shrink = Math.min(1, Math.sqrt(MAX_SCENE_PIXELS / (width * height)));
  const scene = frameOf(Math.round(width * shrink), Math.round(height * shrink));
  const firstFrame = order.firstFrame ? await decodeToCover(order.firstFrame, width, height) : null;
  // The opening picture stays visible as a print after the scene has replaced it.
  const references = order.firstFrame ? [order.firstFrame, ...order.references] : order.references;
  const { palette, layers } = await compose(scene, { ...order, references }, 0);
  const paintScene = painterOf(scene, layers);
  const small = createCanvas(scene.width, scene.height).getContext('2d');
  const note = `${order.model}  ·  ${width} × ${height}  ·  ${order.durationSeconds} s`.toUpperCase();
  const letters = drawLettering(frameOf(width, height), palette, { title: order.text, note });

  /** Opacity of the opening picture over the scene, 0 to 1. */
  const cover = (seconds: number) => (firstFrame ? 1 - smooth(seconds / order.durationSeconds, 0.3, 0.62) : 0);

  return {
    paintScene: (seconds) => {
      if (cover(seconds) < 1) paintScene(small, seconds);
    },
    paintOver: (context, seconds) => {
      const covered = cover(seconds);
      if (covered < 1) {
        context.drawImage(small.canvas, 0, 0, width, height);
        // Letters rise into place. Without an opening picture they are visible at once, for the still that players show.
        const settled = firstFrame ? 1 - covered : smooth(seconds, -0.4, 1.2);
        context.drawImage(letters.canvas, 0, Math.round(letters.top + (1 - settled) * scene.unit * 0.03));
      }
      if (firstFrame && covered > 0) {
        context.globalAlpha = covered;
        drawZoomed(context, firstFrame, 1 + 0.12 * (seconds / order.durationSeconds));
        context.globalAlpha = 1;
      }
    },
  };
}

/** Paints plates once, with their margin, and then only moves them. */
function painterOf(frame: Frame, layers: Layer[]): (context: SKRSContext2D, seconds: number) => void {
  const { width, height, margin } = frame;
  const prepared = layers.map((layer) => {
    if (!layer.plate) return { layer, plate: null };
    const plate = createCanvas(width + 2 * margin, height + 2 * margin);
    const context = plate.getContext('2d');
    context.translate(margin, margin);
    layer.paint(context, 0);
    context.getImageData(0, 0, 1, 1); // paint now: otherwise every use would repeat all strokes
    return { layer, plate };
  });
  return (context, seconds) => {
    for (const { layer, plate } of prepared) {
      context.save();
      applyPose(context, layer, seconds);
      if (plate) context.drawImage(plate, -margin, -margin);
      else layer.paint(context, seconds);
      context.restore();
    }
  };
}

function drawZoomed(context: SKRSContext2D, picture: Canvas, zoom: number): void {
  const { width, height } = picture;
  context.drawImage(picture, (width * (1 - zoom)) / 2, (height * (1 - zoom)) / 2, width * zoom, height * zoom);
}

/** 0 before `from`, 1 after `to`, eased in between. */
function smooth(at: number, from: number, to: number): number {
  const share = Math.min(1, Math.max(0, (at - from) / (to - from)));
  return share * share * (3 - 2 * share);
}
