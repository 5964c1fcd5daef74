import { pause } from './pause.ts';

const LOOKS = 3;

/**
 * Looks for a job whose create call has just got no answer. The upstream's list may lag behind, so it is looked through more
 * than once, and its silence proves nothing yet.
 * @returns null when it did not turn up, or could not be looked for
 * @throws the reason of the signal
 */
export async function findJobAfterNoAnswer(
  find: () => Promise<string | null>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  for (let look = 1; look <= LOOKS; look++) {
    if (look > 1) await pause(intervalMs, signal);
    const id = await find().catch(() => null);
    signal.throwIfAborted();
    if (id !== null) return id;
  }
  return null;
}
