/** `seconds`: whole seconds, as in RFC 9110. `fractions`: also "1.5", which some servers send. */
type Precision = 'seconds' | 'fractions';

const SECONDS: Record<Precision, RegExp> = { seconds: /^[0-9]{1,9}$/, fractions: /^[0-9]{1,9}(\.[0-9]+)?$/ };

/** The start of an HTTP date. `Date.parse` alone accepts many other texts. */
const WEEKDAY = /^[A-Z][a-z]{2,8}, /;
/**
 * The format of C's asctime, one of three date formats that RFC 9110 requires recipients to accept. It names no time
 * zone and is UTC.
 */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [0-9]{4}$/;

/**
 * How long a Retry-After header asks to wait: its seconds, or the time until its date (RFC 9110).
 * @param header the value as received; anything but a string counts as absent
 * @returns milliseconds, 0 for a past date; null if the header is absent or invalid
 */
export function parseRetryAfter(header: unknown, nowMs: number, precision: Precision = 'seconds'): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  if (SECONDS[precision].test(text)) return Math.ceil(Number(text) * 1000);
  const isAsctime = ASCTIME.test(text);
  if (!isAsctime && !WEEKDAY.test(text)) return null;
  const at = Date.parse(isAsctime ? `${text} UTC` : text);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
