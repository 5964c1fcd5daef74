import { ProviderError } from '../contract/provider.ts';
import { networkCause, type OperatorCause } from './operator-cause.ts';
import { retryAfterMs } from './retry-after.ts';
import { UpstreamFailure, type UpstreamReply } from './upstream-fetch.ts';

/**
 * The error for a create call without an answer. If no connection was opened, nothing was billed. Otherwise a job may
 * exist, and its id is unknown.
 * @param error as thrown by `upstreamFetch`
 * @throws any error but an UpstreamFailure, unchanged
 */
export function submitUnanswered(provider: string, error: unknown): ProviderError {
  if (!(error instanceof UpstreamFailure)) throw error;
  const cause = networkCause(provider, error);
  return error.sent
    ? new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause })
    : new ProviderError('provider_unavailable', { billing: 'none', cause });
}

/**
 * The error for a refused create call, chosen by its status alone. Used for replies whose error code says no more than
 * the status.
 */
export function submitRefused(reply: UpstreamReply, cause: OperatorCause): ProviderError {
  const { status } = reply;
  const waitMs = retryAfterMs(reply.headers);
  if (status === 429 || status === 425 || (status === 503 && waitMs !== undefined)) {
    return new ProviderError('provider_unavailable', { billing: 'none', cause, retryAfterMs: waitMs });
  }
  if (status === 402) return new ProviderError('provider_quota_exceeded', { billing: 'none', cause });
  // 408 and 5xx: the upstream may have failed after it created the job. 2xx without an id: the job may exist and be
  // billed, but cannot be found.
  if (status < 300 || status === 408 || status >= 500) {
    return new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause, retryAfterMs: waitMs });
  }
  return new ProviderError('provider_rejected', { billing: 'none', cause });
}
