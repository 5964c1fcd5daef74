import { parseRetryAfter } from '../../platform/http/retry-after.ts';

/** At most this much longer than the schedule says, so that events which failed together do not come back together. */
const JITTER = 0.2;

/** A receiver may ask for up to twice the wait of the schedule. */
const MAX_STRETCH = 2;

/**
 * Seconds until the next attempt.
 * @param failures attempts of the schedule that have failed, the one just ended included; 1 or more
 * @param retryAfter the header as it came
 * @returns null when the schedule is used up
 */
export function retryDelayS(
  schedule: readonly number[],
  failures: number,
  retryAfter: unknown,
  { random = Math.random, nowMs = Date.now() }: { random?: () => number; nowMs?: number } = {},
): number | null {
  const gap = schedule[failures - 1];
  if (gap === undefined) return null;
  const askedMs = parseRetryAfter(retryAfter, nowMs);
  if (askedMs !== null) return Math.min(Math.max(askedMs / 1000, gap), gap * MAX_STRETCH);
  return gap * (1 + JITTER * random());
}
