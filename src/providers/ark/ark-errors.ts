import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import type { TaskErrorCode } from '../../tasks/record/task-error.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import { submitRefused } from '../wire/submit-failure.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { arkRefusal, type ArkTask } from './ark-wire.ts';

/** Ark's error codes. Refused calls and failed tasks use the same ones. The first pattern that matches decides. */
const CODES: readonly (readonly [RegExp, TaskErrorCode])[] = [
  [/^ContentSecurityDetectionError$/, 'provider_unavailable'], // the checker itself failed
  [/SensitiveContentDetected|RiskDetection/, 'content_policy_violation'],
  [/^(MissingParameter|InvalidParameter|InvalidImageURL)/, 'provider_rejected'],
  [/ServiceOverdue$|^AccountOverdueError$|^SetLimitExceeded$/, 'provider_quota_exceeded'],
  [/^(AuthenticationError|InvalidAccountStatus|AccessDenied|OperationDenied)/, 'provider_rejected'],
  [/^(InvalidEndpointOrModel|ModelNotOpen|NotFound)/, 'provider_rejected'],
  [/RateLimitExceeded|^RequestBurstTooFast$|^InflightBatchsizeExceeded$|^ServerOverloaded$/, 'provider_unavailable'],
];

/** The error for a reply to the create call that contains no task. */
export function createFailure({ upstream }: ProviderRequest, reply: UpstreamReply): ProviderError {
  const { error } = parseReply(arkRefusal, reply.json);
  const { code = '', message, request_id: requestId = reply.headers['x-request-id'] } = error ?? {};
  const facts = { status: reply.status, code, requestId, message: message ?? reply.text };
  const cause = operatorCause('ark', upstream.apiKey, facts);
  // A reply without an error status, or with a 5xx, does not show whether Ark created the task.
  if (reply.status < 400 || reply.status >= 500) return submitRefused(reply, cause);
  const known = codeOf(code, message);
  if (!known) return submitRefused(reply, cause);
  return new ProviderError(known, { billing: 'none', cause, retryAfterMs: retryAfterMs(reply.headers) });
}

/** The error for a task that ended without a video. */
export function taskFailure({ upstream }: ProviderRequest, { status, error }: ArkTask): ProviderError {
  const { code = status ?? '', message } = error ?? {};
  const cause = operatorCause('ark', upstream.apiKey, { code, message });
  if (status === 'expired') return new ProviderError('provider_timeout', { cause });
  if (code === 'InternalServiceError') return new ProviderError('provider_unavailable', { cause });
  return new ProviderError(codeOf(code, message) ?? 'internal_error', { cause });
}

function codeOf(code: string, message = ''): TaskErrorCode | undefined {
  // This code has two meanings: the queue is full for now, or the free quota is used up. The message tells them apart.
  if (code === 'QuotaExceeded') {
    return /queue|concurren|排队|并发/i.test(message) ? 'provider_unavailable' : 'provider_quota_exceeded';
  }
  return CODES.find(([pattern]) => pattern.test(code))?.[1];
}
