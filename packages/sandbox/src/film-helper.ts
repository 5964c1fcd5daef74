import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { EncodedFrame } from './film-encoder.ts';
import { RenderStopped } from './render-errors.ts';
import type { FilmOrder } from './render-order.ts';

/** What the helper gets as its `workerData`. */
export interface HelperCall {
  order: FilmOrder;
  /** The shared flag of the render: any value but 0 stops it. */
  stop: SharedArrayBuffer;
  /** Of the film's PieceBoard. */
  board: SharedArrayBuffer;
}

export type HelperMessage = { type: 'piece'; index: number; frames: EncodedFrame[] } | { type: 'stopped' };

/** A second thread for a film. It has the priority of the thread that starts it (Linux), and ends with that thread. */
export class FilmHelper {
  /** Rejects if the helper crashes or the render is stopped. */
  readonly finished: Promise<void>;
  private readonly worker: Worker;

  constructor(call: HelperCall, onPiece: (index: number, frames: EncodedFrame[]) => void) {
    // In dist both files are JavaScript; in development both are TypeScript, which Node strips.
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
    this.finished.catch(() => undefined); // the film may fail before it waits for the helper
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }
}
