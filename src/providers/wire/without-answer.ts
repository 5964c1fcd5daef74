import { ProviderError } from '../contract/provider.ts';
import { operatorCause, networkCause, type OperatorCause } from './operator-cause.ts';
import type { WatchedCall } from './watched-call.ts';

/** The error for a call without a complete answer. */
export function withoutAnswer(provider: string, watched: WatchedCall): ProviderError {
  const cause = networkCause(provider, watched.failure);
  if (!watched.sent) return new ProviderError('provider_unavailable', { billing: 'none', cause });
  if (watched.tooLarge) return new ProviderError('internal_error', { cause });
  return outcomeUnknown({ ...cause, ...(watched.status !== null && { status: watched.status }) });
}

/**
 * The error when the upstream may or may not have done the work. No other code fits, because every other code tells
 * clients to try again.
 */
export function outcomeUnknown(cause: OperatorCause): ProviderError {
  return new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause });
}

/** The error for a success that has no picture. */
export function noResult(provider: string, watched: WatchedCall, secret: string | null, why: string): ProviderError {
  const { cause } = uselessSuccess(provider, watched, secret, why);
  return new ProviderError('provider_no_result', { cause });
}

/** The error for a success whose content does not follow the API. */
export function uselessSuccess(
  provider: string,
  watched: WatchedCall,
  secret: string | null,
  why: string,
): ProviderError {
  const facts = {
    status: watched.status ?? 200,
    code: 'unexpected_answer',
    requestId: requestIdOf(watched),
    message: why,
  };
  return new ProviderError('internal_error', { cause: operatorCause(provider, secret, facts) });
}

export function requestIdOf({ headers }: WatchedCall): string | undefined {
  return headers['x-request-id'] ?? headers['x-goog-request-id'];
}
