import { PullQueue } from '../platform/run/pull-queue.ts';

/**
 * Decides when the next view is sent to a subscriber. The time counts from the last view that the client had room for,
 * so no views are made for a client that is too slow.
 * @param everyMs least time between two views
 */
export function updates(everyMs: number): PullQueue<true> {
  let nextMs = -Infinity;
  const queue = new PullQueue<true>(() => {
    const waitMs = nextMs - performance.now();
    if (waitMs > 0) {
      setTimeout(() => queue.wake(), waitMs).unref();
      return null;
    }
    nextMs = performance.now() + everyMs;
    return true;
  });
  return queue;
}
