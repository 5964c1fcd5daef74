import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 10;
/** Whatever the grace, a goodbye takes no longer than this. */
const LONGEST_MS = 5_000;

/**
 * Does something to each of many, some every 10 ms, so that those who come back at once do not come back together. One
 * alone is not kept waiting.
 * @param withinS the time that a shutdown may take; half of it is used at the most
 */
export async function withJitter<Item>(
  items: readonly Item[],
  withinS: number,
  act: (item: Item) => void,
): Promise<void> {
  const steps = Math.max(1, Math.floor(Math.min((withinS * 1000) / 2, LONGEST_MS) / STEP_MS));
  const atOnce = Math.max(1, Math.ceil(items.length / steps));
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0) await sleep(STEP_MS);
    items.slice(from, from + atOnce).forEach(act);
  }
}
