import { jest } from '@jest/globals';
import { stopClock } from '../../../test/support/clock.ts';
import type { Claim, ClaimedTask } from '../../tasks/record/lease.ts';
import { Slots } from './slots.ts';
import { ClaimIntervals, TaskClaimer } from './task-claimer.ts';

type Dependencies = ConstructorParameters<typeof TaskClaimer>;

const CONFIG = { role: 'all', workerConcurrency: 2 } as Dependencies[0];
const A_TASK = { id: 'task_1', api_key_id: 'key_a', request_id: null, timeline: null } as unknown as ClaimedTask;
/** Longer than claims rest, and shorter than the poll. */
const SETTLED_MS = 100;

describe('a place that becomes free', () => {
  let claimer: TaskClaimer | undefined;
  beforeEach(() => stopClock());
  afterEach(async () => {
    await claimer?.stop(0);
    jest.useRealTimers();
  });

  /** @returns how many claims have been made, before and after the first task has ended */
  async function claimsAround(first: Claim): Promise<[before: number, after: number]> {
    let claims = 0;
    const ended = Promise.withResolvers<void>();
    const queue = {
      subscribe: () => undefined,
      claim: async () => {
        claims += 1;
        return claims === 1 ? first : { tasks: [], full: false };
      },
    };
    claimer = new TaskClaimer(
      CONFIG,
      queue as unknown as Dependencies[1],
      { run: () => ended.promise } as unknown as Dependencies[2],
      { isDraining: false } as Dependencies[3],
      new Slots(CONFIG),
      {} as Dependencies[5],
    );
    await claimer.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(SETTLED_MS);
    const before = claims;
    ended.resolve();
    await jest.advanceTimersByTimeAsync(SETTLED_MS);
    return [before, claims];
  }

  it('makes no claim when the last one left nothing behind', async () => {
    expect(await claimsAround({ tasks: [A_TASK], full: false })).toEqual([1, 1]);
  });

  it('makes a claim when the last one was full', async () => {
    const [before, after] = await claimsAround({ tasks: [A_TASK], full: true });
    expect(after).toBeGreaterThan(before);
  });
});

describe('the rests of claims', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('begin after a claim, and are over some milliseconds later', () => {
    const intervals = new ClaimIntervals();
    expect(intervals.leftMs).toBeLessThanOrEqual(0);
    intervals.begin();
    expect(intervals.leftMs).toBe(5);
    jest.advanceTimersByTime(5);
    expect(intervals.leftMs).toBe(0);
  });

  it('are longer for reserved places', () => {
    const intervals = new ClaimIntervals();
    jest.advanceTimersByTime(100);
    expect(intervals.beginReserved()).toBe(0);
    jest.advanceTimersByTime(40);
    expect(intervals.beginReserved()).toBe(60);
    jest.advanceTimersByTime(60);
    expect(intervals.beginReserved()).toBe(0);
  });
});
