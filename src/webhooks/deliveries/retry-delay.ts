/** Random addition to the scheduled delay, at most this share, so that events that failed together are not retried together. */
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
  const requestedS = parseRetryAfter(retryAfter, nowMs);
  if (requestedS !== null) return Math.min(Math.max(requestedS, gap), gap * MAX_STRETCH);
  return gap * (1 + JITTER * random());
}

/** Seconds, or a date (RFC 9110); null for anything else. */
function parseRetryAfter(header: unknown, nowMs: number): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  if (!/^[A-Z][a-z]{2,8}, /.test(text)) return null; // Date.parse takes far more than HTTP's dates
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, (at - nowMs) / 1000);
}
