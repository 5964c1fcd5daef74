/**
 * How long the upstream asks us to wait.
 * @param headers names in lower case
 * @returns milliseconds; undefined when it does not say, or nothing sensible
 */
export function retryAfterMs(headers: Record<string, string>, now = Date.now()): number | undefined {
  const value = headers['retry-after']?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
