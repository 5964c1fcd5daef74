import { PullQueue } from '../../platform/run/pull-queue.ts';
import type { ShownBatch } from '../record/batch.entity.ts';
import { isNewer } from './batch-version.ts';

/** The queue of one subscriber. It holds only the latest state, so a slow subscriber costs nothing. */
export class BatchQueue {
  readonly states = new PullQueue<ShownBatch>(() => this.take());
  /** The state to send next; null if there is none. */
  private latest: ShownBatch | null = null;
  private newest: ShownBatch;
  private isEnding = false;

  /** @param isKnown whether the subscriber has the first state already */
  constructor(first: ShownBatch, isKnown: boolean) {
    this.newest = first;
    if (!isKnown) this.latest = first;
  }

  /**
   * Queues a state that is newer than every state that was queued or sent. Ignores any other state, and all states
   * after `end`.
   */
  push(batch: ShownBatch): void {
    if (this.isEnding || !isNewer(batch, this.newest)) return;
    this.newest = this.latest = batch;
    this.states.wake();
  }

  /** Closes the queue once the state that it holds has been sent. */
  end(): void {
    this.isEnding = true;
    this.states.wake();
  }

  private take(): ShownBatch | null {
    const { latest } = this;
    this.latest = null;
    if (latest === null && this.isEnding) this.states.close();
    return latest;
  }
}
