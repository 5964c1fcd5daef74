import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Starts each action at its own time, even if earlier ones have not ended, because a slow response must not lower the
 * rate.
 * @returns when all have ended
 */
export async function atRate(
  perSecond: number,
  count: number,
  action: (nth: number) => Promise<unknown>,
): Promise<void> {
  const startedAt = performance.now();
  const started: Promise<unknown>[] = [];
  for (let nth = 0; nth < count; nth++) {
    await sleep(Math.max(0, startedAt + (nth * 1000) / perSecond - performance.now()));
    const running = action(nth);
    running.catch(() => undefined); // rethrown below: an unhandled rejection would end the program while its services run
    started.push(running);
  }
  await Promise.all(started);
}
