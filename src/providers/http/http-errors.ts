import type { TaskErrorCode } from '../../tasks/record/task-error.ts';
import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { declaredOf } from './http-call.ts';
import { textAt } from './json-at.ts';

const CODES = {
  policy: 'content_policy_violation',
  input: 'provider_rejected',
  quota: 'provider_quota_exceeded',
  busy: 'provider_unavailable',
} as const satisfies Record<string, TaskErrorCode>;

/** Finds the error word of an answer, and the error code that the binding assigns to this word. */
function codeIn(
  request: ProviderRequest,
  json: unknown,
): { word: string | undefined; code: TaskErrorCode | undefined } {
  const { error, errors = {} } = declaredOf(request);
  const word = textAt(json, error);
  const kinds = Object.keys(CODES) as (keyof typeof CODES)[];
  const kind = word === undefined ? undefined : kinds.find((each) => errors[each]?.includes(word));
  return { word, code: kind === undefined ? undefined : CODES[kind] };
}

const causeOf = (request: ProviderRequest, reply: UpstreamReply, code: string | undefined) =>
  operatorCause('http', request.upstream.apiKey, {
    status: reply.status,
    ...(code !== undefined && { code }),
    requestId: reply.headers['x-request-id'],
    message: reply.text,
  });

/** The error when the answer to a submit contains no job. */
export function submitFailure(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  const { word, code } = codeIn(request, reply.json);
  const cause = causeOf(request, reply, word);
  const waitMs = retryAfterMs(reply.headers);
  const { status } = reply;
  // Accepted without an id, timed out, in conflict or failed: the job may exist, and its id is unknown.
  if (status < 300 || status === 408 || status === 409 || status >= 500) {
    return new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause, retryAfterMs: waitMs });
  }
  const known = status === 429 ? 'provider_unavailable' : status === 402 ? 'provider_quota_exceeded' : code;
  return new ProviderError(known ?? 'provider_rejected', { billing: 'none', cause, retryAfterMs: waitMs });
}

/** The error for a job that has failed, or whose answer has no result. */
export function jobFailure(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  const { word, code } = codeIn(request, reply.json);
  return new ProviderError(code ?? 'internal_error', { cause: causeOf(request, reply, word) });
}
