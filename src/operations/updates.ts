import { PullQueue } from '../platform/run/pull-queue.ts';

/**
 * Decides when the next view is sent to a subscriber. Counts `everyMs` from the last view that the client had room for,
 * so no views are made for a client that is too slow.
 * @param everyMs minimum time between two views, in milliseconds
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
