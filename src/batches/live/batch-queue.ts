import type { ShownBatch } from '../batch.entity.ts';
import { isNewer } from './batch-version.ts';

/**
 * What one subscriber still has to be sent: the latest state, so that a slow one costs nothing. Ends after the final
 * state. A hand-written iterator instead of an async generator, because `return()` must end a pending `next()`.
 */
export class BatchQueue implements AsyncIterableIterator<ShownBatch> {
  /** Not yet sent. */
  private latest: ShownBatch | null = null;
  private newest: ShownBatch;
  private isEnding = false;
  private isClosed = false;
  private wake: (() => void) | null = null;
  private readonly onClose: (() => void)[] = [];

  /** @param isKnown whether the subscriber has the first state already */
  constructor(first: ShownBatch, isKnown: boolean) {
    this.newest = first;
    if (!isKnown) this.latest = first;
  }

  /** A state that is older than one that is queued or sent is ignored. */
  push(batch: ShownBatch): void {
    if (this.isClosed || this.isEnding || !isNewer(batch, this.newest)) return;
    this.newest = this.latest = batch;
    this.wake?.();
  }

  /** What is queued is still sent. */
  end(): void {
    this.isEnding = true;
    this.wake?.();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.latest = null;
    for (const callback of this.onClose) callback();
    this.wake?.();
  }

  /** @param callback called once when the queue ends for any reason; at once when it has already ended */
  whenClosed(callback: () => void): void {
    if (this.isClosed) callback();
    else this.onClose.push(callback);
  }

  async next(): Promise<IteratorResult<ShownBatch, undefined>> {
    while (!this.isClosed) {
      const batch = this.latest;
      if (batch !== null) {
        this.latest = null;
        return { done: false, value: batch };
      }
      if (this.isEnding) this.close();
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<ShownBatch, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<ShownBatch, undefined>> {
    this.close();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
