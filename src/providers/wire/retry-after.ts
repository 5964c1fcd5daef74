import { parseRetryAfter } from '../../platform/http/retry-after.ts';

/**
 * How long an upstream asks to wait in its reply. A header that cannot be read counts as 0. Even then its presence
 * means "not now", and decides whether a refused call may be repeated.
 * @param headers the headers, with names in lower case
 * @returns milliseconds; undefined without the header
 */
export function retryAfterMs(headers: Record<string, string>, nowMs = Date.now()): number | undefined {
  const header = headers['retry-after']?.trim();
  return header ? (parseRetryAfter(header, nowMs, 'fractions') ?? 0) : undefined;
}
