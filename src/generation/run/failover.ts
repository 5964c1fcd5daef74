import { ProviderError, UnsupportedRequest } from '../../providers/provider.ts';

/** A content refusal is final: the same content is not sent to the next provider. */
export function canTryNext(error: unknown): error is ProviderError | UnsupportedRequest {
  if (error instanceof UnsupportedRequest) return true;
  return error instanceof ProviderError && error.billing === 'none' && error.code !== 'content_policy_violation';
}

/** Prefers a temporary failure, so that the round is retried; otherwise the first one. */
export function pickFailure(failures: (ProviderError | UnsupportedRequest)[]): ProviderError {
  const errors = failures.filter((failure) => failure instanceof ProviderError);
  const temporary = errors.find(({ code }) => code === 'provider_unavailable');
  if (temporary ?? errors[0]) return (temporary ?? errors[0]) as ProviderError;
  const unsupported = failures[0] as UnsupportedRequest | undefined;
  if (!unsupported) return new ProviderError('provider_rejected');
  // The error's own message names the provider, which only the operator may see.
  const message = `No provider of this model can do what ${unsupported.param} asks for.`;
  return new ProviderError('provider_rejected', { message, param: unsupported.param });
}
