import { jest } from '@jest/globals';
import { stopClock } from '../../../test/support/clock.ts';
import { poll } from './poll.ts';

const { signal } = new AbortController();

afterEach(() => jest.useRealTimers());

/** @returns when the job was read, in ms, until it was an hour old */
async function readsOf(status: number, intervalMs: number): Promise<number[]> {
  stopClock();
  const begunMs = jest.now();
  const reads: number[] = [];
  const stop = new AbortController();
  const read = async () => {
    reads.push(jest.now() - begunMs);
    return { status, headers: {}, json: {}, text: '' };
  };
  const options = { provider: 'openai', secret: null, intervalMs, signal: AbortSignal.any([signal, stop.signal]) };
  const polled = poll(read, () => null, options).catch(() => undefined);
  await jest.advanceTimersByTimeAsync(3_600_000);
  stop.abort();
  await polled;
  return reads;
}

describe.each([
  ['a job that runs for long', 200],
  ['an upstream that is away', 500],
])('polls of %s', (_what, status) => {
  it('become rarer, to one in 30 s', async () => {
    const reads = await readsOf(status, 200);
    expect(reads.slice(0, 3)).toEqual([0, 200, 400]);
    const pauses = reads.slice(1).map((at, i) => at - reads[i]!);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.at(-1)).toBe(30_000);
    expect(reads.filter((at) => at <= 30_000).length).toBeLessThan(70);
  });

  it('keep a longer interval of the operator', async () => {
    expect((await readsOf(status, 600_000)).length).toBe(7);
  });
});
