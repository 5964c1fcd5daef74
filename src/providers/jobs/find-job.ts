import { ProviderError } from '../contract/provider.ts';
import { pause } from '../wire/pause.ts';

export const LOOKUPS = 3;

/** The upstream cannot be read now, so a later lookup may decide. Any other failure of a lookup is lasting. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof ProviderError && error.code === 'provider_unavailable';

/** `isAbsent`: each lookup was answered, and none had the job. */
export type FoundJob = { id: string } | { id: null; isAbsent: boolean };

/**
 * Looks up a job whose create call has ended without an answer. The upstream's list may lag behind, so it is read more
 * than once. A job that is missing from the list may still exist. An upstream that is away is waited for: the call may have
 * ended without an answer for that very reason.
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
