import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { junkCause } from '../wire/operator-cause.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import { UpstreamFailure, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { pause } from '../wire/pause.ts';

/** The longest wait that a Retry-After can cause. It is limited, because the task has a deadline. */
const MAX_WAIT_MS = 60_000;

/**
 * The pause between polls is a twentieth of the time since the first poll. It is at least the interval, and grows to at
 * most 30 s, so that a long job costs the upstream fewer calls.
 */
const SHARE_OF_ELAPSED = 1 / 20;
const MAX_BACKOFF_MS = 30_000;

/** Upstreams replicate their records, so one "not found" may be temporary. Only the third refusal in a row counts. */
const MAX_REFUSALS = 3;

/** Statuses that mean "not now" and say nothing about the job. */
const isTemporary = (status: number): boolean => [408, 409, 425, 429].includes(status) || status >= 500;

export interface PollOptions {
  /** The name of the provider, for the operator's log. */
  provider: string;
  /** The API key of the calls; removed from every logged text. */
  secret: string | null;
  /** Milliseconds between the first polls. */
  intervalMs: number;
  signal: AbortSignal;
  /** Which replies count as an answer. Missing: a 2xx with a JSON object. */
  isAnswer?: (reply: UpstreamReply) => boolean;
}

/**
 * Reads until an answer arrives. Broken connections, 408, 409, 425, 429 and 5xx are retried until the signal aborts.
 * Any other reply that is no answer counts as a refusal.
 * @throws ProviderError at the third refusal in a row: provider_rejected for 401 and 403, else internal_error
 * @throws the reason of the signal
 */
export async function readWithRetry(read: () => Promise<UpstreamReply>, options: PollOptions): Promise<UpstreamReply> {
  const { provider, secret, intervalMs, signal, isAnswer = isObject } = options;
  const startedMs = performance.now();
  let refusals = 0;
  for (;;) {
    const reply = await read().catch(nullForNoReply);
    if (reply && isAnswer(reply)) return reply;
    refusals = reply && !isTemporary(reply.status) ? refusals + 1 : 0;
    if (reply && refusals === MAX_REFUSALS) {
      const code = reply.status === 401 || reply.status === 403 ? 'provider_rejected' : 'internal_error';
      throw new ProviderError(code, { cause: junkCause(provider, secret, reply) });
    }
    const askedMs = reply ? (retryAfterMs(reply.headers) ?? 0) : 0;
    await pause(Math.max(backedOff(intervalMs, startedMs), Math.min(askedMs, MAX_WAIT_MS)), signal);
  }
}

/**
 * Polls a job until it has ended.
 * @param interpret returns the result that it reads from an answer, or null while the job is pending; throws if the job
 *   failed
 */
export async function poll<T>(
  read: () => Promise<UpstreamReply>,
  interpret: (reply: UpstreamReply) => T | null | Promise<T | null>,
  options: PollOptions,
): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    const intervalMs = backedOff(options.intervalMs, startedMs);
    const result = await interpret(await readWithRetry(read, { ...options, intervalMs }));
    if (result !== null) return result;
    await pause(backedOff(options.intervalMs, startedMs), options.signal);
  }
}

const backedOff = (intervalMs: number, startedMs: number): number =>
  Math.max(intervalMs, Math.min((performance.now() - startedMs) * SHARE_OF_ELAPSED, MAX_BACKOFF_MS));

export function isObject({ status, json }: UpstreamReply): boolean {
  return status >= 200 && status < 300 && typeof json === 'object' && json !== null && !Array.isArray(json);
}

function nullForNoReply(error: unknown): null {
  if (error instanceof UpstreamFailure) return null;
  throw error;
}

/**
 * Options of `poll` for a request. If the operator or the binding sets an interval, it replaces that of the adapter.
 */
export function pollOptions(
  provider: string,
  { upstream }: ProviderRequest,
  defaultMs: number,
  signal: AbortSignal,
): PollOptions {
  return { provider, secret: upstream.apiKey, intervalMs: upstream.pollIntervalMs ?? defaultMs, signal };
}
