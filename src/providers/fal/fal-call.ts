import type { ProviderRequest } from '../contract/provider.ts';
import { type UpstreamCall, upstreamFetch, type UpstreamReply } from '../wire/upstream-fetch.ts';

export async function callFal({ upstream }: ProviderRequest, path: string, call: UpstreamCall): Promise<UpstreamReply> {
  const headers = { ...call.headers, authorization: `Key ${upstream.apiKey}` };
  return upstreamFetch(`${upstream.baseUrl}${path}`, { ...call, headers });
}

/**
 * The path of a request, below the first two segments of its endpoint. It is built here and not taken from the reply to
 * the submit call. After a crash only the id is known, and no text of the upstream may decide where the key is sent.
 */
export function requestPath({ upstream }: ProviderRequest, id: string): string {
  return `/${upstream.model.split('/').slice(0, 2).join('/')}/requests/${encodeURIComponent(id)}`;
}
