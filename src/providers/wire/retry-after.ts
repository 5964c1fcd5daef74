import { parseRetryAfter } from '../../platform/http/retry-after.ts';

/**
 * How long an upstream's reply asks to wait.
 * @param headers names in lower case
 * @returns milliseconds; undefined if the reply does not say
 */
export function retryAfterMs(headers: Record<string, string>, nowMs = Date.now()): number | undefined {
  return parseRetryAfter(headers['retry-after'], nowMs, 'fractions') ?? undefined;
}
