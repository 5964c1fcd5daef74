import { ProviderError } from '../contract/provider.ts';
import { pause } from '../wire/pause.ts';

export const LOOKUPS = 3;

/**
 * Whether the upstream cannot be read now, so that a later lookup may succeed. Any other failure of a lookup is
 * lasting.
 */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof ProviderError && error.code === 'provider_unavailable';

/** The result of a search. `isAbsent`: every lookup got an answer, and the job was in none of the answers. */
export type FoundJob = { id: string } | { id: null; isAbsent: boolean };

/**
 * Looks up a job whose create call has ended without an answer. The upstream's list may lag behind, so it is read more
 * than once. A job that is missing from the list may still exist. If the upstream is unavailable, the lookup waits for
 * it, because the call may have got no answer for the same reason.
 * @throws the reason of the signal
 */
export async function findJobAfterNoAnswer(
  find: () => Promise<string | null>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<FoundJob> {
  for (let lookups = 0, failures = 0; ;) {
    try {
      const id = await find();
      if (id !== null) return { id };
      lookups += 1;
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnreadable(error)) failures += 1;
    }
    if (lookups + failures === LOOKUPS) return { id: null, isAbsent: failures === 0 };
    await pause(intervalMs, signal);
  }
}
