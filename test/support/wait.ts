import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** The limit for something that hangs. It is long, because the tests share two cores and may be slow. */
export const PATIENCE_MS = 120_000;

/** Polls until the result is neither null, undefined nor false. The error names what was waited for. */
export async function eventually<T>(
  what: string,
  poll: () => Promise<T | null | undefined | false>,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await poll();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${withinMs} ms without success for: ${what}`);
    await sleep(25);
  }
}

/**
 * Repeats a measurement that exceeds the bound. A busy machine is slow only now and then, a slow service every time.
 * @param measure returns milliseconds
 * @returns the shortest time; the first time under the bound ends the repetition
 */
export async function leastOf(tries: number, boundMs: number, measure: () => Promise<number>): Promise<number> {
  let least = Infinity;
  for (let nth = 0; nth < tries && least >= boundMs; nth += 1) least = Math.min(least, await measure());
  return least;
}

/** How many times longer everything takes than on an idle machine. For bounds on times that people notice. */
export const busyness = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
