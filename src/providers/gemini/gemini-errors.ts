import { ProviderError } from '../provider.ts';
import { operatorCause, type OperatorCause } from '../wire/operator-cause.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import type { WatchedCall } from '../wire/watched-call.ts';
import { outcomeUnknown, requestIdOf, uselessSuccess, withoutAnswer } from '../wire/without-answer.ts';

/** Of what Google's error envelope may hold, what decides. */
interface Envelope {
  message: string;
  /** `RESOURCE_EXHAUSTED` and the like. */
  status: string;
  /** Of ErrorInfo: `API_KEY_INVALID`. */
  reason: string;
  /** Of QuotaFailure; each name says the span it is counted over. */
  quotaIds: string[];
  /** Of RetryInfo. */
  waitMs: number | undefined;
}

/** What a failed call of the SDK means to us. */
export function geminiFailure(error: unknown, watched: WatchedCall, apiKey: string): ProviderError {
  if (!watched.whole) return withoutAnswer('gemini', watched, false);
  const { message } = error as Error;
  if (watched.succeeded) return uselessSuccess('gemini', watched, apiKey, message);
  const said = envelopeOf(message);
  const status = watched.status ?? 0;
  const facts = { status, code: said.reason || said.status, requestId: requestIdOf(watched), message: said.message };
  return refusal(status, said, said.waitMs ?? retryAfterMs(watched.headers), operatorCause('gemini', apiKey, facts));
}

function refusal(status: number, said: Envelope, waitMs: number | undefined, cause: OperatorCause): ProviderError {
  const unbilled = { billing: 'none', cause } as const;
  if (status === 402 || isQuota(status, said)) return new ProviderError('provider_quota_exceeded', unbilled);
  if ([409, 425, 429].includes(status) || (status === 503 && waitMs !== undefined)) {
    return new ProviderError('provider_unavailable', { ...unbilled, retryAfterMs: waitMs });
  }
  if (status >= 500 || status === 408) return outcomeUnknown(status === 504 || status === 408, false, cause);
  return new ProviderError('provider_rejected', unbilled);
}

/** What waiting for a minute does not mend. */
function isQuota(status: number, { status: name, message, quotaIds }: Envelope): boolean {
  if (status === 429) return quotaIds.some((id) => /PerDay|PerMonth/i.test(id));
  return status === 400 && name === 'FAILED_PRECONDITION' && /billing/i.test(message);
}

/** @param text the SDK gives the whole body as the message of its error; the front end may wrap it into a list */
function envelopeOf(text: string): Envelope {
  const body = parse(text);
  const { error } = (Array.isArray(body) ? body[0] : body) ?? {};
  const details = Array.isArray(error?.details) ? error.details : [];
  const detail = (type: string) => details.find((one) => one?.['@type']?.endsWith(type));
  const delay = /^(\d+(?:\.\d+)?)s$/.exec(detail('RetryInfo')?.retryDelay ?? '')?.[1];
  return {
    message: error?.message ?? text,
    status: error?.status ?? '',
    reason: detail('ErrorInfo')?.reason ?? '',
    quotaIds: (detail('QuotaFailure')?.violations ?? []).map(({ quotaId }) => quotaId ?? ''),
    waitMs: delay === undefined ? undefined : Math.ceil(Number(delay) * 1000),
  };
}

interface Detail {
  '@type'?: string;
  reason?: string;
  retryDelay?: string;
  violations?: { quotaId?: string }[];
}

type Body = { error?: { message?: string; status?: string; details?: (Detail | null)[] } } | null;

function parse(text: string): Body | Body[] {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return null;
  }
}
