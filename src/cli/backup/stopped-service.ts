import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { type LiveProcess, liveProcesses, requestDrain } from './sql/live-processes.ts';

const LOOK_EVERY_MS = 500;

/**
 * Drains every process, and waits until all have stopped. Otherwise the copy would lack what a process writes later.
 * @param waitS seconds
 * @throws Error for the operator if a process still runs after `waitS`
 */
export async function untilStopped(client: Client, waitS: number, tell: (line: string) => void): Promise<void> {
  let told = '';
  for (const giveUpAt = Date.now() + waitS * 1000; ; await sleep(LOOK_EVERY_MS)) {
    await requestDrain(client); // repeated for processes that have just started
    const live = await liveProcesses(client);
    if (live.length === 0) return;
    const state = stateOf(live);
    if (state !== told) tell(state);
    told = state;
    if (Date.now() > giveUpAt)
      throw new Error(
        `Nothing was copied: after ${waitS} s, ${state}. \`npx darkroom ops resume\` lets them work again.`,
      );
  }
}

function stateOf(live: LiveProcess[]): string {
  const busy = live.filter((each) => !each.draining || each.busy > 0);
  const names = (some: LiveProcess[]): string => some.map(({ id }) => id).join(', ');
  if (busy.length > 0) return `these processes still finish their tasks: ${names(busy)}`;
  return `these processes are drained, stop them now: ${names(live)}`;
}
