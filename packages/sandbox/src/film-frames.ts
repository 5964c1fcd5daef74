import { createCanvas } from '@napi-rs/canvas';
import { FilmEncoder, type EncodedFrame } from './film-encoder.ts';
import type { FilmPainter } from './film-painter.ts';
import { FRAMES_PER_SECOND, type Piece, type PieceBoard, piecesOf } from './film-pieces.ts';
import { withPixels, withPremultiplied } from './pixels.ts';
import { type RenderControl, yieldToEventLoop } from './render-control.ts';
import type { FilmOrder } from './render-order.ts';

// The client's pictures are painted in bands of this many rows, which limits the memory in 4K. The number is even.
const COVER_ROWS = 90;

/** Whether pictures of the client cover the scene at the start or the end. */
const hasCover = ({ firstFrame, lastFrame }: FilmOrder): boolean => Boolean(firstFrame ?? lastFrame);

export const frameCountOf = (order: FilmOrder): number => Math.round(order.durationSeconds * FRAMES_PER_SECOND);

interface FilmWork {
  order: FilmOrder;
  painter: FilmPainter;
  board: PieceBoard;
  control: RenderControl;
}

/** Encodes one piece after another until none is left. */
export async function encodePieces(
  { order, painter, board, control }: FilmWork,
  onPiece: (piece: Piece, frames: EncodedFrame[]) => void,
): Promise<void> {
  const { size } = order;
  const { scale, letters } = painter;
  const frameCount = frameCountOf(order);
  const pieces = piecesOf(frameCount);
  const encoder = withPremultiplied(
    letters,
    (pixels) => new FilmEncoder({ size, scale, letters: pixels, coverRows: hasCover(order) ? COVER_ROWS : 0 }),
  );
  letters.width = letters.height = 1; // frees the pixels of this canvas, because the encoder has a copy
  const composeFrame = composerOf(order, painter, encoder);
  for (let piece = board.take(pieces); piece; piece = board.take(pieces)) {
    encoder.restart();
    const frames: EncodedFrame[] = [];
    for (let i = 0; i < piece.frames; i++) {
      composeFrame((piece.from + i) / FRAMES_PER_SECOND);
      frames.push(encoder.encode());
      control.reportProgress(board.countFrame() / (frameCount + 1));
      await yieldToEventLoop();
    }
    onPiece(piece, frames);
  }
}

/** @returns a function that takes a time of the film, and composes the frame of that time in the encoder */
function composerOf(order: FilmOrder, painter: FilmPainter, encoder: FilmEncoder): (seconds: number) => void {
  const { width, height } = order.size;
  const { scene, lettersTop } = painter;
  const band = createCanvas(width, hasCover(order) ? COVER_ROWS : 1).getContext('2d');
  return (seconds) => {
    const covered = painter.coverAt(seconds);
    if (covered < 1) {
      painter.paintScene(seconds);
      withPixels(scene, (rgba) => encoder.scene.set(rgba));
    }
    if (covered === 0) return encoder.compose(0, height, lettersTop, false);
    for (let top = 0; top < height; top += COVER_ROWS) {
      const rows = Math.min(COVER_ROWS, height - top);
      band.setTransform(1, 0, 0, 1, 0, 0);
      band.clearRect(0, 0, width, COVER_ROWS);
      band.translate(0, -top);
      painter.paintCover(band, seconds);
      withPremultiplied(band.canvas, (pixels) => encoder.cover.set(pixels));
      encoder.compose(top, rows, lettersTop, true);
    }
  };
}
