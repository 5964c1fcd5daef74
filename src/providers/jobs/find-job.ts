import { pause } from './pause.ts';

const LOOKUPS = 3;

/**
 * Looks up a job whose create call has just ended without an answer. The upstream's list may lag behind, so it is read more
 * than once. A job that is missing from the list may still exist.
 * @returns null when the job was not found, or the lookup failed
 * @throws the reason of the signal
 */
export async function findJobAfterNoAnswer(
  find: () => Promise<string | null>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  for (let lookup = 1; lookup <= LOOKUPS; lookup++) {
    if (lookup > 1) await pause(intervalMs, signal);
    const id = await find().catch(() => null);
    signal.throwIfAborted();
    if (id !== null) return id;
  }
  return null;
}
