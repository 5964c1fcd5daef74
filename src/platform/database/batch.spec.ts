import { jest } from '@jest/globals';
import { stopClock } from '../../../test/support/clock.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Batch } from './batch.ts';

const dataError = Object.assign(new Error('invalid input'), { code: '22P02' });
const awayError = Object.assign(new Error('terminating connection'), { code: '57P01' });

/** A flush that waits until the test releases it. */
function gated(answer: (items: number[]) => number[] = (items) => items.map((item) => item * 10)) {
  const flushes: { items: number[]; go: () => void }[] = [];
  const flush = async (items: number[]) => {
    const gate = Promise.withResolvers<void>();
    flushes.push({ items, go: gate.resolve });
    await gate.promise;
    return answer(items);
  };
  return { flushes, flush };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a batch', () => {
  it('gives each caller its own outcome, in the order of the calls', async () => {
    const seen: number[][] = [];
    const batch = new Batch<number, string>(async (items) => {
      seen.push(items);
      return items.map((item) => `answer ${item}`);
    });
    const answers = await Promise.all([3, 1, 2].map((item) => batch.add(item)));
    expect(answers).toEqual(['answer 3', 'answer 1', 'answer 2']);
    expect(seen).toEqual([[3, 1, 2]]);
  });

  it('rejects only the item for which the flush returns an error', async () => {
    const batch = new Batch<number, string>(async (items) =>
      items.map((item) => (item === 2 ? new ApiError('queue_full') : `answer ${item}`)),
    );
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batch.add(item)));
    expect(outcomes).toMatchObject([{ value: 'answer 1' }, { reason: { code: 'queue_full' } }, { value: 'answer 3' }]);
  });

  it('gathers calls while a flush is in flight, within its limits of concurrency and size', async () => {
    const { flushes, flush } = gated();
    const batch = new Batch(flush, { maxItems: 2 });
    const answers = Promise.all([1, 2, 3, 4, 5].map((item) => batch.add(item)));
    await turn();
    expect(flushes.map(({ items }) => items)).toEqual([[1, 2]]);
    for (let done = 0; done < 3; done += 1) {
      flushes[done]!.go();
      await turn();
      await turn();
    }
    expect(flushes.map(({ items }) => items)).toEqual([[1, 2], [3, 4], [5]]);
    expect(await answers).toEqual([10, 20, 30, 40, 50]);
  });

  it('flushes half of the callers at a time with splitInHalf, unless they are few', async () => {
    for (const [callers, sizes] of [
      [64, [32, 32]],
      [5, [5]],
    ] as const) {
      const { flushes, flush } = gated();
      const batch = new Batch(flush, { splitInHalf: true });
      const answers = Promise.all(Array.from({ length: callers }, (_, at) => batch.add(at)));
      for (const at of sizes.keys()) {
        await turn();
        await turn();
        flushes[at]!.go();
      }
      await answers;
      expect(flushes.map(({ items }) => items.length)).toEqual(sizes);
    }
  });

  it('sends the next half before it answers the callers of the last one', async () => {
    const order: string[] = [];
    const { flushes, flush } = gated();
    const batch = new Batch(
      (items: number[]) => {
        order.push(`flush of ${items.length}`);
        return flush(items);
      },
      { splitInHalf: true },
    );
    const first = Array.from({ length: 8 }, (_, at) => batch.add(at).then(() => order.push('answer')));
    await turn();
    const second = Array.from({ length: 8 }, (_, at) => batch.add(at));
    flushes[0]!.go();
    await Promise.all(first);
    expect(order.slice(0, 3)).toEqual(['flush of 8', 'flush of 8', 'answer']);
    flushes[1]!.go();
    await Promise.all(second);
  });

  it('rests between two flushes, and flushes the first call after a rest at once', async () => {
    const sizes: number[] = [];
    const batch = new Batch<number, number>(
      async (items) => {
        sizes.push(items.length);
        return items;
      },
      { minIntervalMs: 100 },
    );
    stopClock();
    try {
      await batch.add(1);
      const early = [batch.add(2), batch.add(3)];
      await jest.advanceTimersByTimeAsync(99);
      for (let turns = 0; turns < 5; turns += 1) await turn();
      expect(sizes).toEqual([1]);
      await jest.advanceTimersByTimeAsync(1);
      await Promise.all(early);
      expect(sizes).toEqual([1, 2]);
      await jest.advanceTimersByTimeAsync(100);
      await batch.add(4); // while the clock stands still
      expect(sizes).toEqual([1, 2, 1]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('fails only the row that the database rejects', async () => {
    const batch = new Batch<number, number>(async (items) => {
      if (items.includes(2)) throw dataError;
      return items;
    });
    const answers = await Promise.allSettled([1, 2, 3].map((item) => batch.add(item)));
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason))).toEqual([
      1,
      dataError,
      3,
    ]);
  });

  it('rejects every caller when the database fails, and recovers with the next call', async () => {
    let isAway = true;
    const batch = new Batch<number, number>(async (items) => {
      if (isAway) throw awayError;
      return items;
    });
    const answers = await Promise.allSettled([1, 2, 3].map((item) => batch.add(item)));
    expect(answers.map((answer) => (answer as PromiseRejectedResult).reason)).toEqual(Array(3).fill(awayError));
    isAway = false;
    expect(await batch.add(4)).toBe(4);
  });

  it('rejects with 503 beyond maxWaiting, and keeps the waiting calls', async () => {
    const { flushes, flush } = gated();
    const batch = new Batch(flush, { maxItems: 1, maxWaiting: 2 });
    const first = batch.add(0);
    await turn();
    const waiting = [batch.add(1), batch.add(2)];
    const refused = await batch.add(3).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ code: 'service_unavailable', retryAfterS: 1 });
    for (let done = 0; done < 3; done += 1) {
      flushes[done]!.go();
      await turn();
      await turn();
    }
    expect(await Promise.all([first, ...waiting])).toEqual([0, 10, 20]);
  });
});
