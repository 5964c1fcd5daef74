import { createCanvas } from '@napi-rs/canvas';
import { open, writeFile } from 'node:fs/promises';
import type { EncodedFrame } from './film-encoder.ts';
import { encodePieces, frameCountOf } from './film-frames.ts';
import { FilmHelper } from './film-helper.ts';
import { type FilmPainter, preparePainter } from './film-painter.ts';
import { FRAMES_PER_SECOND, PieceBoard, piecesOf } from './film-pieces.ts';
import { writeMp4 } from './mp4.ts';
import type { RenderControl } from './render-control.ts';
import type { FilmOrder } from './render-order.ts';

// The longer side of a still in pixels, at most. The still of a larger film is scaled down.
const MAX_STILL_SIDE = 1920;
const STILL_QUALITY = 85;
const MAX_SHARED_OPENING_PIXELS = 1920 * 1152;

/** Renders a film into the file `order.path`, and its first frame into `order.stillPath`. */
export async function renderFilm(order: FilmOrder, control: RenderControl): Promise<void> {
  const file = await open(order.path, 'wx'); // first, so that a full or read-only disk fails before the work
  try {
    const frames = await encode(order, control);
    await file.writev(
      writeMp4({ size: order.size, framesPerSecond: FRAMES_PER_SECOND, frames, hasSound: order.hasSound === true }),
    );
  } finally {
    await file.close();
  }
  control.reportProgress(1);
}

/** Encodes the film, on one or two threads. The bytes of a piece do not depend on the thread that encodes it. */
async function encode(order: FilmOrder, control: RenderControl): Promise<EncodedFrame[]> {
  const pieces: EncodedFrame[][] = [];
  const board = new PieceBoard();
  const helper = isShared(order)
    ? new FilmHelper({ order, stop: control.stop, board: board.shared }, (index, frames) => (pieces[index] = frames))
    : null;
  try {
    const painter = await preparePainter(order);
    await writeFile(order.stillPath, await stillOf(order, painter));
    control.reportProgress(0);
    await encodePieces({ order, painter, board, control }, ({ index }, frames) => (pieces[index] = frames));
    await helper?.finished;
  } finally {
    await helper?.end();
  }
  return pieces.flat();
}

/**
 * Whether two threads encode the film. A film of one piece needs only one thread. A large film that opens or ends with
 * a picture of the client also gets one thread: each thread would decode its own copy of the picture, which takes
 * 100 MB.
 */
function isShared(order: FilmOrder): boolean {
  const { width, height } = order.size;
  return (
    piecesOf(frameCountOf(order)).length > 1 &&
    !((order.firstFrame ?? order.lastFrame) && width * height > MAX_SHARED_OPENING_PIXELS)
  );
}

/** The first frame as WebP. */
async function stillOf({ size }: FilmOrder, painter: FilmPainter): Promise<Buffer> {
  const shrink = Math.min(1, MAX_STILL_SIDE / Math.max(size.width, size.height));
  const canvas = createCanvas(Math.round(size.width * shrink), Math.round(size.height * shrink));
  const context = canvas.getContext('2d');
  context.scale(shrink, shrink);
  painter.paintScene(0);
  context.drawImage(painter.scene.canvas, 0, 0, size.width, size.height);
  context.drawImage(painter.letters, 0, painter.lettersTop);
  painter.paintCover(context, 0);
  return canvas.encode('webp', STILL_QUALITY);
}
