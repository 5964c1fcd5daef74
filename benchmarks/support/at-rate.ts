import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Begins each act at its own time, however long those before it take: a slow answer must not thin out what is asked.
 * @returns when all have ended
 */
export async function atRate(perSecond: number, count: number, act: (nth: number) => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  const begun: Promise<unknown>[] = [];
  for (let nth = 0; nth < count; nth++) {
    await sleep(Math.max(0, startedAt + (nth * 1000) / perSecond - performance.now()));
    const acting = act(nth);
    acting.catch(() => undefined); // thrown below: here it would end the program with its services still running
    begun.push(acting);
  }
  await Promise.all(begun);
}
