const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;
/**
 * The longest wait that the client obeys. If the service asks for a longer one, the caller gets the error and decides.
 */
export const MAX_RETRY_AFTER_MS = 60_000;

/** Whether a retry may succeed. The header `x-should-retry` decides. Without it the status and the code decide. */
export function mayRetry(status: number, headers: Headers, code: string): boolean {
  const advice = headers.get('x-should-retry');
  if (advice !== null) return advice === 'true';
  return status === 408 || status === 429 || status >= 500 || (status === 409 && code === 'idempotency_in_progress');
}

/**
 * The wait that `Retry-After` asks for, in milliseconds. The header contains seconds or a date.
 * @returns null if the header is missing or malformed
 */
export function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/**
 * The pause after an attempt, in milliseconds: 500 after attempt 0, then 1,000, 2,000 and 4,000, then always 8,000.
 * Each pause is shortened by a random part, at most a quarter. Otherwise all clients would come back at the same time.
 */
export function backoffMs(attempt: number): number {
  const full = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt);
  return full * (1 - Math.random() / 4);
}

/** @throws the reason of the signal when it aborts */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
