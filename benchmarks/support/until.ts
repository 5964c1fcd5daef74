import { setTimeout as sleep } from 'node:timers/promises';

/** Polls every 10 ms. @returns whether the condition became true in time */
export async function until(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!condition() && performance.now() < deadline) await sleep(10);
  return condition();
}
