import { APIError } from 'openai/error';
import { ProviderError, type Upstream } from '../contract/provider.ts';
import { operatorCause, type OperatorCause } from '../wire/operator-cause.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import type { WatchedCall } from '../wire/watched-call.ts';
import { outcomeUnknown, requestIdOf, uselessSuccess, withoutAnswer } from '../wire/without-answer.ts';

/** These patterns include the codes of other servers with an OpenAI-compatible API. */
const CONTENT_POLICY =
  /moderation_blocked|content_?policy|content_?filter|safety_violation|image_generation_user_error|sentinel_block/i;
const QUOTA = /insufficient_quota|billing_hard_limit_reached|billing_not_active|budget_exceeded/i;
const UPSTREAM_DOWN = /server_error|service_unavailable|overloaded|internal_error/i;
/** A code or message that, with the status 503, means that OpenAI has not accepted the call. */
const OVERLOADED = /overloaded|slow.?down/i;
const TIMEOUT = /time_?out|timed.out/i;
/** Some servers have the HTTP status as the code of a failed job. */
const REFUSED_INPUT = /^invalid_|unsupported|bad_request|^4(00|13|22)$/i;

/** Fields of OpenAI, each with the parameter of this service that it is made from. */
const PARAMS: Record<string, string> = {
  prompt: 'prompt',
  n: 'n',
  size: 'resolution',
  seconds: 'duration',
  image: 'reference_images',
  input_reference: 'first_frame_image_url',
};

/** Translates a failed call of the SDK into an error of this service. */
export function openaiFailure(error: unknown, watched: WatchedCall, upstream: Upstream): ProviderError {
  if (!watched.whole) return withoutAnswer('openai', watched);
  const { message } = error as Error;
  if (watched.succeeded) return uselessSuccess('openai', watched, upstream.apiKey, message);
  const { code, type, param, status = watched.status ?? 0 } = error instanceof APIError ? error : {};
  const facts = { status, code: code ?? type ?? undefined, requestId: requestIdOf(watched), message };
  const cause = operatorCause('openai', upstream.apiKey, facts);
  const waitMs = retryAfterMs(watched.headers);
  return refusal({ status, code: `${code} ${type}`, param: String(param ?? ''), message, waitMs }, cause);
}

/** Translates the failure of a job that the upstream accepted. */
export function failedJob(code: string, cause: OperatorCause): ProviderError {
  const details = { billing: 'charged', cause } as const;
  if (CONTENT_POLICY.test(code)) return new ProviderError('content_policy_violation', details);
  if (QUOTA.test(code)) return new ProviderError('provider_quota_exceeded', details);
  if (TIMEOUT.test(code)) return new ProviderError('provider_timeout', details);
  if (UPSTREAM_DOWN.test(code)) return new ProviderError('provider_unavailable', details);
  if (REFUSED_INPUT.test(code)) return new ProviderError('provider_rejected', details);
  return new ProviderError('internal_error', details);
}

interface Refusal {
  status: number;
  /** The upstream's code and type, joined. */
  code: string;
  param: string;
  message: string;
  waitMs: number | undefined;
}

function refusal({ status, code, param, message, waitMs }: Refusal, cause: OperatorCause): ProviderError {
  const unbilled = { billing: 'none', cause } as const;
  if (status < 500 && (CONTENT_POLICY.test(code) || (status === 400 && CONTENT_POLICY.test(message)))) {
    // The picture may have been made and billed before it was refused.
    return new ProviderError('content_policy_violation', { cause });
  }
  if (status === 402 || (status < 500 && QUOTA.test(code)))
    return new ProviderError('provider_quota_exceeded', unbilled);
  const isOverloaded = status === 503 && (waitMs !== undefined || OVERLOADED.test(`${code} ${message}`));
  if ([409, 425, 429].includes(status) || isOverloaded) {
    return new ProviderError('provider_unavailable', { ...unbilled, retryAfterMs: waitMs });
  }
  if (status >= 500 || status === 408) return outcomeUnknown(cause);
  // The field is named only for errors in the input: the client cannot fix a refused key or an unknown model.
  const ourParam = [400, 413, 422].includes(status) ? PARAMS[param.split('[', 1)[0]!] : undefined;
  return new ProviderError('provider_rejected', { ...unbilled, param: ourParam });
}
