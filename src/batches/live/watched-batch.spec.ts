import { jest } from '@jest/globals';
import { stopClock } from '../../../test/support/clock.ts';
import type { ShownBatch } from '../record/batch.entity.ts';
import { BatchQueue } from './batch-queue.ts';
import { WatchedBatch } from './watched-batch.ts';

const running = { id: 'batch_1', status: 'in_progress', queued: 1, running: 0 } as ShownBatch;

describe('a batch that clients follow', () => {
  beforeEach(() => stopClock());
  afterEach(() => jest.useRealTimers());

  it('is read again soon when an item changes during a read', async () => {
    const reads: ((batch: ShownBatch) => void)[] = [];
    const watched = new WatchedBatch({
      read: () => new Promise((resolve) => reads.push(resolve)),
      onEmpty: () => undefined,
    });
    const queue = new BatchQueue(running, true);
    watched.add(queue);
    watched.touch();
    await jest.advanceTimersByTimeAsync(10);
    expect(reads).toHaveLength(1);
    watched.touch(); // the statement may have taken its snapshot before this change
    reads[0]!(running);
    await jest.advanceTimersByTimeAsync(600); // less than the two seconds of the poll
    expect(reads).toHaveLength(2);
    queue.states.close();
  });

  it('is read at most four times a second, however often its items change', async () => {
    let reads = 0;
    const watched = new WatchedBatch({
      read: async () => ((reads += 1), running),
      onEmpty: () => undefined,
    });
    const queue = new BatchQueue(running, true);
    watched.add(queue);
    for (let ms = 0; ms < 1_000; ms += 10) {
      watched.touch();
      await jest.advanceTimersByTimeAsync(10);
    }
    expect(reads).toBeGreaterThanOrEqual(4);
    expect(reads).toBeLessThanOrEqual(5); // the first one at once
    queue.states.close();
  });
});
