import { ProviderError, type ProviderRequest, type Billing } from '../provider.ts';
import type { TaskErrorCode } from '../../tasks/task-error.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import { submitRefused } from '../wire/submit-failure.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import type { ArkErrorBody, ArkTask } from './ark-wire.ts';

/** The first that fits decides. The same codes come in a refused call and in a failed task. */
const CODES: readonly (readonly [RegExp, TaskErrorCode])[] = [
  [/^ContentSecurityDetectionError$/, 'provider_unavailable'], // the checker itself failed
  [/SensitiveContentDetected|RiskDetection/, 'content_policy_violation'],
  [/^(MissingParameter|InvalidParameter|InvalidImageURL)/, 'provider_rejected'],
  [/ServiceOverdue$|^AccountOverdueError$|^SetLimitExceeded$/, 'provider_quota_exceeded'],
  [/^(AuthenticationError|InvalidAccountStatus|AccessDenied|OperationDenied)/, 'provider_rejected'],
  [/^(InvalidEndpointOrModel|ModelNotOpen|NotFound)/, 'provider_rejected'],
  [/RateLimitExceeded|^RequestBurstTooFast$|^InflightBatchsizeExceeded$|^ServerOverloaded$/, 'provider_unavailable'],
];

/** The create call was answered, and not with a task. */
export function createFailure({ upstream }: ProviderRequest, reply: UpstreamReply): ProviderError {
  const { error } = (reply.json ?? {}) as ArkErrorBody;
  const code = String(error?.code ?? '');
  const cause = operatorCause('ark', upstream.apiKey, {
    status: reply.status,
    code,
    requestId: error?.request_id ?? reply.headers['x-request-id'],
    message: error?.message ?? reply.text,
  });
  // Whatever a 5xx says: whether it says so before or after making the task, nobody knows.
  if (reply.status < 400 || reply.status >= 500) return submitRefused(reply, cause);
  const known = codeOf(code, error?.message);
  if (!known) return submitRefused(reply, cause);
  const wait = retryAfterMs(reply.headers);
  return new ProviderError(known, { billing: 'none', cause, ...(wait === undefined ? {} : { retryAfterMs: wait }) });
}

/** A task ended without a film. */
export function taskFailure({ upstream }: ProviderRequest, task: ArkTask): ProviderError {
  const billing: Billing = 'charged';
  const { status, error } = task;
  const code = String(error?.code ?? status ?? '');
  const cause = operatorCause('ark', upstream.apiKey, { code, message: error?.message });
  if (status === 'expired') return new ProviderError('provider_timeout', { billing, cause });
  if (code === 'InternalServiceError') return new ProviderError('provider_unavailable', { billing, cause });
  return new ProviderError(codeOf(code, error?.message) ?? 'internal_error', { billing, cause });
}

function codeOf(code: string, message = ''): TaskErrorCode | undefined {
  // Of two meanings: too many tasks in the queue for now, or the free quota is used up.
  if (code === 'QuotaExceeded') {
    return /queue|concurren|排队|并发/i.test(message) ? 'provider_unavailable' : 'provider_quota_exceeded';
  }
  return CODES.find(([pattern]) => pattern.test(code))?.[1];
}
