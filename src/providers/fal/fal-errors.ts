import type { TaskErrorCode } from '../../tasks/record/task-error.ts';
import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { operatorCause, type OperatorCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { submitRefused } from '../wire/submit-failure.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { falRefusal, type FalStatus } from './fal-wire.ts';

/** Error types of the models and of the platform. The first pattern that matches decides. */
const TYPES: readonly (readonly [RegExp, TaskErrorCode])[] = [
  [/^content_policy_violation$/, 'content_policy_violation'],
  [/^no_media_generated$/, 'provider_no_result'],
  [/^(generation|request)_timeout$/, 'provider_timeout'],
  [/^(startup_timeout|runner_|downstream_service_|internal_)/, 'provider_unavailable'],
  [/^client_/, 'internal_error'], // a cancel by this service, which then stops polling, so this is unexpected
  [/^(image|file|video|audio|unsupported|feature|string|list|int|float|bool|literal|value|url)_/, 'provider_rejected'],
  [/^(greater_than|less_than|one_of|missing|enum|bad_request|url_error|auth_error|not_found)/, 'provider_rejected'],
];

/** The error for a request that the queue did not accept. */
export function submitFailure(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  const { cause, type, text } = read(request, reply);
  const { status, headers } = reply;
  if ((status === 401 || status === 403) && /balance|locked|billing/i.test(text)) {
    return new ProviderError('provider_quota_exceeded', { billing: 'none', cause });
  }
  if (type === 'content_policy_violation') return new ProviderError(type, { billing: 'none', cause });
  if (status === 503 && headers['x-fal-retryable'] === 'true') {
    return new ProviderError('provider_unavailable', { billing: 'none', cause });
  }
  return submitRefused(reply, cause);
}

/** The error for a request that ended without a result. */
export function resultFailure(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  const { cause, type } = read(request, reply);
  const retryable = reply.headers['x-fal-retryable'] ?? reply.headers['x-fal-needs-retry'];
  return new ProviderError(codeOf(type, reply.status, retryable), { cause });
}

/** The error for a failure that the status reply reports. */
export function statusFailure(
  { upstream }: ProviderRequest,
  { error, error_type: type = '' }: FalStatus,
): ProviderError {
  const message = typeof error === 'string' ? error : JSON.stringify(error);
  const cause = operatorCause('fal', upstream.apiKey, { code: type, message });
  return new ProviderError(codeOf(type, 500, undefined), { cause });
}

function codeOf(type: string, status: number, retryable: string | undefined): TaskErrorCode {
  const known = TYPES.find(([pattern]) => pattern.test(type))?.[1];
  if (known === 'provider_unavailable' && retryable === 'false') return 'internal_error';
  if (known) return known;
  if (retryable === 'true') return 'provider_unavailable';
  return status === 400 || status === 422 ? 'provider_rejected' : 'internal_error';
}

function read(
  { upstream }: ProviderRequest,
  reply: UpstreamReply,
): { cause: OperatorCause; type: string; text: string } {
  const { status, headers, json, text } = reply;
  const { detail, error_type: platformType } = parseReply(falRefusal, json);
  const [first] = Array.isArray(detail) ? detail : [];
  const type = first?.type ?? platformType ?? headers['x-fal-error-type'] ?? '';
  const message = first?.msg ?? (typeof detail === 'string' ? detail : text);
  const requestId = headers['x-fal-request-id'];
  const cause = operatorCause('fal', upstream.apiKey, { status, code: type, requestId, message });
  return { cause, type, text: message };
}
