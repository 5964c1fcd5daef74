import { RenderStopped } from './render-errors.ts';

const REPORT_INTERVAL_MS = 200;

/** Connects a render to its caller in another thread: reports progress, and stops the render after an abort. */
export class RenderControl {
  /** A shared 32-bit flag for all threads of the render. Any value but 0 stops the render. */
  readonly stop: SharedArrayBuffer;
  private readonly stopFlag: Int32Array;
  private readonly report: (share: number) => void;
  private reportedAt = -Infinity;

  constructor(stop: SharedArrayBuffer, report: (share: number) => void) {
    this.stop = stop;
    this.stopFlag = new Int32Array(stop);
    this.report = report;
  }

  /**
   * Reports progress, or stops the render. Call it between steps of at most about 100 ms.
   * @param share the share of the whole work that is done, 0 to 1; reported at most every 200 ms
   * @throws RenderStopped
   */
  reportProgress(share: number): void {
    if (Atomics.load(this.stopFlag, 0) !== 0) throw new RenderStopped();
    const now = performance.now();
    if (now - this.reportedAt < REPORT_INTERVAL_MS) return;
    this.reportedAt = now;
    this.report(share);
  }
}

/**
 * Yields one turn of the event loop. Only then does the runtime return unused pixel buffers to the system: 30 frames of
 * 4K took 1.1 GB without it, and 350 MB with it.
 */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
