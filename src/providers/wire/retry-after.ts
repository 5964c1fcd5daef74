import { parseRetryAfter } from '../../platform/http/retry-after.ts';

/**
 * How long an upstream's reply asks to wait. A header that cannot be read still means "not now", which decides whether
 * a refused call may be repeated: it counts as 0.
 * @param headers names in lower case
 * @returns milliseconds; undefined without the header
 */
export function retryAfterMs(headers: Record<string, string>, nowMs = Date.now()): number | undefined {
  const header = headers['retry-after']?.trim();
  return header ? (parseRetryAfter(header, nowMs, 'fractions') ?? 0) : undefined;
}
