import type { ShownBatch } from '../record/batch.entity.ts';
import { isEnded } from '../record/batch-status.ts';
import type { BatchQueue } from './batch-queue.ts';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';

/** The least time between two reads of a batch, so that followers get at most four states a second. */
const THROTTLE_MS = 250;
/** How often a batch is read for changes that no event announces, such as the end of the batch itself. */
const POLL_MS = 2_000;

interface Watching {
  read: () => Promise<ShownBatch | null>;
  /**
   * Called once: when nobody follows the batch any more, when the batch has ended, or when it is gone. The callee must
   * end the subscription that calls `touch`.
   */
  onEmpty: () => void;
}

/** A batch that clients of this process follow. It is read once for all of them. */
export class WatchedBatch {
  private readonly followers = new Set<BatchQueue>();
  private timer: NodeJS.Timeout | undefined;
  private dueMs = Infinity;
  private readMs = -Infinity;
  private isReading = false;
  /** Whether an item has changed during the present read. The read may have missed the change. */
  private isTouched = false;
  private isStopped = false;

  constructor(private readonly watching: Watching) {
    this.schedule(THROTTLE_MS);
  }

  add(queue: BatchQueue): void {
    this.followers.add(queue);
    queue.states.whenClosed(() => {
      this.followers.delete(queue);
      if (this.followers.size === 0) this.stop();
    });
  }

  /** Call when an item has changed. */
  touch(): void {
    this.isTouched = this.isReading;
    this.schedule(Math.max(0, this.readMs + THROTTLE_MS - performance.now()));
  }

  private stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    clearTimeout(this.timer);
    this.watching.onEmpty();
  }

  private schedule(inMs: number): void {
    const dueMs = performance.now() + inMs;
    if (this.isStopped || this.isReading || dueMs >= this.dueMs) return;
    this.dueMs = dueMs;
    clearTimeout(this.timer);
    this.timer = outsideOfRequests(() => setTimeout(() => void this.readAndPush(), inMs).unref());
  }

  private async readAndPush(): Promise<void> {
    this.isReading = true;
    this.isTouched = false;
    this.readMs = performance.now();
    const batch = await this.watching.read().catch(() => undefined); // after a failure, the next read brings the state
    this.isReading = false;
    this.dueMs = Infinity;
    if (batch === null) return this.closeAll();
    if (batch) this.push(batch);
    // If all items are final, the batch is about to end. No event will announce its end.
    const isEnding = batch !== undefined && batch.queued + batch.running === 0;
    this.schedule(isEnding || this.isTouched ? THROTTLE_MS : POLL_MS);
  }

  private push(batch: ShownBatch): void {
    for (const queue of this.followers) {
      queue.push(batch);
      if (isEnded(batch.status)) queue.end();
    }
    if (isEnded(batch.status)) this.stop();
  }

  private closeAll(): void {
    for (const queue of this.followers) queue.states.close();
    this.stop();
  }
}
