import { PullQueue } from '../../platform/run/pull-queue.ts';
import type { ShownBatch } from '../record/batch.entity.ts';
import { isNewer } from './batch-version.ts';

/** What one subscriber still has to be sent: the latest state, so that a slow one costs nothing. */
export class BatchQueue {
  readonly states = new PullQueue<ShownBatch>(() => this.take());
  /** Not yet sent. */
  private latest: ShownBatch | null = null;
  private newest: ShownBatch;
  private isEnding = false;

  /** @param isKnown whether the subscriber has the first state already */
  constructor(first: ShownBatch, isKnown: boolean) {
    this.newest = first;
    if (!isKnown) this.latest = first;
  }

  /** A state that is older than one that is queued or sent is ignored. */
  push(batch: ShownBatch): void {
    if (this.isEnding || !isNewer(batch, this.newest)) return;
    this.newest = this.latest = batch;
    this.states.wake();
  }

  /** What is queued is still sent. */
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
