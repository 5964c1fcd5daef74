import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again and again until the answer is there; fails with what it waited for. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | null | undefined | false>,
  withinMs = 15_000,
): Promise<T> {
  const giveUp = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (Date.now() > giveUp) throw new Error(`Waited ${withinMs} ms in vain for: ${what}`);
    await sleep(25);
  }
}
