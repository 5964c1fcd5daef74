import { jest } from '@jest/globals';

/**
 * Stops the clocks and timers of the code under test, except those of `node:timers/promises`. Sockets, files and
 * threads are not stopped. `jest.advanceTimersByTimeAsync` moves the clocks, `jest.useRealTimers` restores them.
 */
export function stopClock(): void {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
}

/**
 * Skips pauses of the selected lengths: they end at once. Other timers, such as timeouts, run as usual.
 * `jest.restoreAllMocks` ends this.
 * @returns the milliseconds of the pauses so far
 */
export function skipPauses(isPause: (ms: number) => boolean): number[] {
  const start = globalThis.setTimeout;
  const pauses: number[] = [];
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms = 0, ...given: []) => {
    if (!isPause(ms)) return start(work, ms, ...given);
    pauses.push(ms);
    return start(work, 0, ...given);
  }) as typeof start);
  return pauses;
}

/**
 * Intervals of this length that start from now on never run, so that their work is done only for other reasons.
 * `jest.restoreAllMocks` ends this.
 */
export function dropIntervals(droppedMs: number): void {
  const start = globalThis.setInterval;
  jest
    .spyOn(globalThis, 'setInterval')
    .mockImplementation(((work: () => void, ms = 0, ...given: []) =>
      start(ms === droppedMs ? () => undefined : work, ms, ...given)) as typeof start);
}
