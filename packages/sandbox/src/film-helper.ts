import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { EncodedFrame } from './film-encoder.ts';
import { RenderStopped } from './render-errors.ts';
import type { FilmOrder } from './render-order.ts';

/** The `workerData` of the helper. */
export interface HelperCall {
  order: FilmOrder;
  /** The shared flag of the render. Any value but 0 stops the render. */
  stop: SharedArrayBuffer;
  /** The shared memory of the film's PieceBoard. */
  board: SharedArrayBuffer;
}

export type HelperMessage = { type: 'piece'; index: number; frames: EncodedFrame[] } | { type: 'stopped' };

/**
 * A second thread for a film. It has the priority of the thread that starts it (on Linux), and ends with that thread.
 */
export class FilmHelper {
  /** Rejects if the helper crashes or the render is stopped. */
  readonly finished: Promise<void>;
  private readonly worker: Worker;

  constructor(call: HelperCall, onPiece: (index: number, frames: EncodedFrame[]) => void) {
    // In dist this file and film.thread are JavaScript. In development both are TypeScript, whose types Node strips.
    const file = fileURLToPath(new URL(`./film.thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url));
    this.worker = new Worker(file, { execArgv: [], workerData: call });
    this.finished = new Promise((resolve, reject) => {
      this.worker.on('message', (message: HelperMessage) => {
        if (message.type === 'piece') onPiece(message.index, message.frames);
        else reject(new RenderStopped());
      });
      this.worker.on('error', reject);
      this.worker.on('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`a film helper ended with ${code}`)),
      );
    });
    this.finished.catch(() => undefined); // no unhandled rejection if the film fails before it awaits `finished`
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }
}
