import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** A bound for what hangs, not for what is slow: the tests share two cores with each other. */
export const PATIENCE_MS = 120_000;

/** Polls until the answer is neither null, undefined nor false. The error names what it waited for. */
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
 * Repeats a measurement that is over the bound: a busy machine is slow now and then, a slow service is slow every time.
 * @param measure returns milliseconds
 * @returns the shortest measured time; stops at the first that is under the bound
 */
export async function leastOf(tries: number, boundMs: number, measure: () => Promise<number>): Promise<number> {
  let least = Infinity;
  for (let nth = 0; nth < tries && least >= boundMs; nth += 1) least = Math.min(least, await measure());
  return least;
}

/** How many times as long everything takes as on a machine that does nothing else: for bounds that people feel. */
export const busyness = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
