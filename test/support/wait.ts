import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again and again until the answer is there; fails with what it waited for. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | null | undefined | false>,
  withinMs = 30_000,
): Promise<T> {
  const giveUp = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (Date.now() > giveUp) throw new Error(`Waited ${withinMs} ms in vain for: ${what}`);
    await sleep(25);
  }
}

/**
 * Measures again where it took too long: a busy machine is late now and then, a slow service always.
 * @param measure answers milliseconds
 * @returns the least that was measured; the first that is under the bound ends it
 */
export async function leastOf(tries: number, boundMs: number, measure: () => Promise<number>): Promise<number> {
  let least = Infinity;
  for (let nth = 0; nth < tries && least >= boundMs; nth += 1) least = Math.min(least, await measure());
  return least;
}
