import { z } from 'zod';
import { ProviderError } from '../contract/provider.ts';
import { operatorCause, type OperatorCause } from '../wire/operator-cause.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import type { WatchedCall } from '../wire/watched-call.ts';
import { outcomeUnknown, requestIdOf, uselessSuccess, withoutAnswer } from '../wire/without-answer.ts';

/** The fields of Google's error envelope that decide the error code. */
interface Envelope {
  message: string;
  /** `RESOURCE_EXHAUSTED` and the like. */
  status: string;
  /** From ErrorInfo, for example `API_KEY_INVALID`. */
  reason: string;
  /** From QuotaFailure. An id contains the period of its quota, such as `PerDay`. */
  quotaIds: string[];
  /** From RetryInfo. */
  waitMs: number | undefined;
}

/** Translates a failed call of the SDK into an error of this service. */
export function geminiFailure(error: unknown, watched: WatchedCall, apiKey: string): ProviderError {
  if (!watched.whole) return withoutAnswer('gemini', watched);
  const { message } = error as Error;
  if (watched.succeeded) return uselessSuccess('gemini', watched, apiKey, message);
  const envelope = envelopeOf(message);
  const status = watched.status ?? 0;
  const facts = {
    status,
    code: envelope.reason || envelope.status,
    requestId: requestIdOf(watched),
    message: envelope.message,
  };
  const waitMs = envelope.waitMs ?? retryAfterMs(watched.headers);
  return refusal(status, { ...envelope, waitMs }, operatorCause('gemini', apiKey, facts));
}

/** Whether the API does not know the field `store` of a request. The API has then done nothing. */
export function refusesStore(error: unknown): boolean {
  const { status, message = '' } = (error instanceof ProviderError ? (error.cause as OperatorCause) : undefined) ?? {};
  return status === 400 && /\bstore\b/.test(message);
}

function refusal(status: number, envelope: Envelope, cause: OperatorCause): ProviderError {
  const { waitMs } = envelope;
  const unbilled = { billing: 'none', cause } as const;
  if (status === 402 || isQuota(status, envelope)) return new ProviderError('provider_quota_exceeded', unbilled);
  const isBusy = [409, 425, 429].includes(status) || (status === 503 && waitMs !== undefined);
  if (isBusy || isFailedUnbilled(status, envelope)) {
    return new ProviderError('provider_unavailable', { ...unbilled, retryAfterMs: waitMs });
  }
  if (status >= 500 || status === 408) return outcomeUnknown(cause);
  return new ProviderError('provider_rejected', unbilled);
}

/**
 * Whether a failed request is certainly not charged. Google does not charge for requests that fail with 400 or 500
 * (https://ai.google.dev/gemini-api/docs/billing). Only an answer of the API itself, which names a status, proves such
 * a failure. An answer of a proxy does not, nor does 504, the time-out of the API.
 */
const isFailedUnbilled = (status: number, { status: name }: Envelope): boolean =>
  status >= 500 && status <= 503 && name !== '';

/** Whether the quota of a day or a month is used up, or billing is off. A retry in a minute would not succeed. */
function isQuota(status: number, { status: name, message, quotaIds }: Envelope): boolean {
  if (status === 429) return quotaIds.some((id) => /PerDay|PerMonth/i.test(id));
  return status === 400 && name === 'FAILED_PRECONDITION' && /billing/i.test(message);
}

const text = z.string().optional().catch(undefined);

const detailSchema = z
  .object({
    '@type': text,
    reason: text,
    retryDelay: text,
    violations: z
      .array(z.object({ quotaId: text }).catch({}))
      .optional()
      .catch(undefined),
  })
  .catch({});

const envelopeSchema = z.object({
  error: z.object({ message: text, status: text, details: z.array(detailSchema).optional().catch(undefined) }),
});

/**
 * @param body the whole reply, which the SDK gives as the message of its error. A front end may wrap the envelope in a
 *   list
 */
function envelopeOf(body: string): Envelope {
  const json = parseJson(body);
  const { data } = envelopeSchema.safeParse(Array.isArray(json) ? json[0] : json);
  const { message = body, status = '', details = [] } = data?.error ?? {};
  const detail = (type: string) => details.find((one) => one['@type']?.endsWith(type));
  const delay = /^(\d+(?:\.\d+)?)s$/.exec(detail('RetryInfo')?.retryDelay ?? '')?.[1];
  return {
    message,
    status,
    reason: detail('ErrorInfo')?.reason ?? '',
    quotaIds: (detail('QuotaFailure')?.violations ?? []).map(({ quotaId }) => quotaId ?? ''),
    waitMs: delay === undefined ? undefined : Math.ceil(Number(delay) * 1000),
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
