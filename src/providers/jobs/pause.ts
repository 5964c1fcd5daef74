import { setTimeout as sleep } from 'node:timers/promises';

/** Waits. @throws the reason of the signal as soon as it aborts */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}
