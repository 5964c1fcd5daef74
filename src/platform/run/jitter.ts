import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 10;
/** Maximum spread, however long a shutdown may take. */
const MAX_SPREAD_MS = 5_000;

/**
 * Spreads an action on many items over time: every 10 ms it is done for some of them. So clients that reconnect as soon
 * as they are disconnected do not all reconnect at the same moment. A single item is not delayed.
 * @param withinS the time that a shutdown may take; at most half of it is used
 */
export async function withJitter<Item>(
  items: readonly Item[],
  withinS: number,
  act: (item: Item) => void,
): Promise<void> {
  const steps = Math.max(1, Math.floor(Math.min((withinS * 1000) / 2, MAX_SPREAD_MS) / STEP_MS));
  const atOnce = Math.max(1, Math.ceil(items.length / steps));
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0) await sleep(STEP_MS);
    items.slice(from, from + atOnce).forEach(act);
  }
}
