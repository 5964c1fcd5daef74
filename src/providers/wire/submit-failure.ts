import { ProviderError } from '../provider.ts';
import { networkCause, type OperatorCause } from './operator-cause.ts';
import { retryAfterMs } from './retry-after.ts';
import { UpstreamFailure, type UpstreamReply } from './upstream-fetch.ts';

/**
 * What a job interface's create call that got no answer means: nothing was spent if no connection came about, otherwise a job
 * may exist and nobody knows its name.
 * @param error as thrown by `upstreamFetch`; anything but an UpstreamFailure is thrown on
 */
export function submitUnanswered(provider: string, error: unknown): ProviderError {
  if (!(error instanceof UpstreamFailure)) throw error;
  const cause = networkCause(provider, error);
  return error.sent
    ? new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause })
    : new ProviderError('provider_unavailable', { billing: 'none', cause });
}

/** What a refused create call means by its status alone, where the upstream's own code does not say more. */
export function submitRefused(reply: UpstreamReply, cause: OperatorCause): ProviderError {
  const { status } = reply;
  const wait = retryAfterMs(reply.headers);
  const hint = wait === undefined ? {} : { retryAfterMs: wait };
  if (status === 429 || status === 425 || (status === 503 && wait !== undefined)) {
    return new ProviderError('provider_unavailable', { billing: 'none', cause, ...hint });
  }
  if (status === 402) return new ProviderError('provider_quota_exceeded', { billing: 'none', cause });
  // 408 and 5xx: it gave up in the middle, maybe after the job was made. 2xx: it took the job and told no name.
  if (status < 300 || status === 408 || status >= 500) {
    return new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause, ...hint });
  }
  return new ProviderError('provider_rejected', { billing: 'none', cause });
}
