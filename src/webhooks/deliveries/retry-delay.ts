import { parseRetryAfter } from '../../platform/http/retry-after.ts';

/**
 * Random addition to the scheduled delay, at most this share, so that events that failed together are not retried
 * together.
 */
const JITTER = 0.2;

/** A receiver can extend the scheduled delay to at most twice its length. */
const MAX_STRETCH = 2;

/**
 * Seconds until the next attempt.
 * @param failures failed attempts of the schedule, including the one that just ended; 1 or more
 * @param retryAfter the raw header
 * @returns null when the schedule is exhausted
 */
export function retryDelayS(
  schedule: readonly number[],
  failures: number,
  retryAfter: unknown,
  { random = Math.random, nowMs = Date.now() }: { random?: () => number; nowMs?: number } = {},
): number | null {
  const gap = schedule[failures - 1];
  if (gap === undefined) return null;
  const requestedMs = parseRetryAfter(retryAfter, nowMs);
  if (requestedMs !== null) return Math.min(Math.max(requestedMs / 1000, gap), gap * MAX_STRETCH);
  return gap * (1 + JITTER * random());
}
