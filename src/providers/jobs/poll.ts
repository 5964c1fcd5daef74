import { ProviderError } from '../provider.ts';
import { junkCause } from '../wire/operator-cause.ts';
import { pause } from './pause.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import { UpstreamFailure, type UpstreamReply } from '../wire/upstream-fetch.ts';

/** An upstream that asks for more is looked at again after this all the same: the task has a deadline. */
const MAX_WAIT_MS = 60_000;

/** Records are copied about: one "not found" is noise, the third in a row is the truth. */
const MAX_REFUSALS = 3;

/** Says "not now" and nothing of the job. */
const passing = (status: number): boolean => [408, 409, 425, 429].includes(status) || status >= 500;

export interface PollOptions {
  /** For the operator's log. */
  provider: string;
  secret: string | null;
  /** Between two looks. */
  intervalMs: number;
  signal: AbortSignal;
  /** What counts as an answer; when absent, a 2xx with a JSON object. */
  isAnswer?: (reply: UpstreamReply) => boolean;
}

/**
 * Reads until it gets an answer: broken connections, 408, 409, 425, 429 and 5xx are borne as long as the signal lets it.
 * @throws ProviderError at the third refusal in a row: provider_rejected for 401 and 403, else internal_error
 * @throws the reason of the signal
 */
export async function readWithRetry(read: () => Promise<UpstreamReply>, patience: PollOptions): Promise<UpstreamReply> {
  const { provider, secret, intervalMs, signal, isAnswer = isObject } = patience;
  let refusals = 0;
  for (;;) {
    const reply = await read().catch(orNull);
    if (reply && isAnswer(reply)) return reply;
    refusals = reply && !passing(reply.status) ? refusals + 1 : 0;
    if (reply && refusals === MAX_REFUSALS) {
      const code = reply.status === 401 || reply.status === 403 ? 'provider_rejected' : 'internal_error';
      throw new ProviderError(code, { cause: junkCause(provider, secret, reply) });
    }
    const asked = reply ? (retryAfterMs(reply.headers) ?? 0) : 0;
    await pause(Math.max(intervalMs, Math.min(asked, MAX_WAIT_MS)), signal);
  }
}

/**
 * Looks at a job again and again until it has ended.
 * @param judge what the answer means: null while the job is on its way; throws for one that failed
 */
export async function poll<T>(
  read: () => Promise<UpstreamReply>,
  judge: (reply: UpstreamReply) => T | null,
  patience: PollOptions,
): Promise<T> {
  for (;;) {
    const verdict = judge(await readWithRetry(read, patience));
    if (verdict !== null) return verdict;
    await pause(patience.intervalMs, patience.signal);
  }
}

function isObject({ status, json }: UpstreamReply): boolean {
  return status >= 200 && status < 300 && typeof json === 'object' && json !== null && !Array.isArray(json);
}

function orNull(error: unknown): null {
  if (error instanceof UpstreamFailure) return null;
  throw error;
}
