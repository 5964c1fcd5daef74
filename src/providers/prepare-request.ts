import { type PreparedRequest, type Provider, type ProviderRequest, UnsupportedRequest } from './provider.ts';

/**
 * `provider.prepare`, after a check that the adapter uses every parameter of the input: an unknown parameter would
 * otherwise be dropped silently.
 * @throws UnsupportedRequest
 */
export function prepareRequest(provider: Provider, request: ProviderRequest): PreparedRequest {
  const taken: readonly string[] = provider.takes;
  for (const [param, value] of Object.entries(request.input)) {
    if (value !== undefined && !taken.includes(param)) {
      throw new UnsupportedRequest(param, `${provider.name} does not take ${param}.`);
    }
  }
  return provider.prepare(request);
}
