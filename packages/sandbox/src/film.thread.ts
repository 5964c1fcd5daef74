/** The entry point of a film's second thread. Like render.thread.ts, it may contain only erasable TypeScript. */
import { parentPort, workerData } from 'node:worker_threads';
import { encodePieces } from './film-frames.ts';
import type { HelperCall, HelperMessage } from './film-helper.ts';
import { preparePainter } from './film-painter.ts';
import { PieceBoard } from './film-pieces.ts';
import { RenderControl } from './render-control.ts';
import { RenderStopped } from './render-errors.ts';

const { order, stop, board } = workerData as HelperCall;
const control = new RenderControl(stop, () => undefined);
const send = (message: HelperMessage, transfer: ArrayBuffer[] = []) => parentPort?.postMessage(message, transfer);

try {
  const work = { order, painter: await preparePainter(order), board: new PieceBoard(board), control };
  await encodePieces(work, ({ index }, frames) => {
    const buffers = frames.map(({ bytes }) => bytes.buffer as ArrayBuffer);
    send({ type: 'piece', index, frames }, buffers);
  });
} catch (error) {
  if (!(error instanceof RenderStopped)) throw error;
  send({ type: 'stopped' });
}
