import { setTimeout as sleep } from 'node:timers/promises';

/** Looks every 10 ms. @returns whether it came true in time */
export async function until(isSo: () => boolean, patienceMs: number): Promise<boolean> {
  const giveUpAt = performance.now() + patienceMs;
  while (!isSo() && performance.now() < giveUpAt) await sleep(10);
  return isSo();
}
