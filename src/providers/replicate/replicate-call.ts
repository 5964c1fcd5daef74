import type { ProviderRequest } from '../contract/provider.ts';
import { type UpstreamCall, type UpstreamReply, upstreamFetch } from '../wire/upstream-fetch.ts';

export const REPLICATE_POLL_MS = { image: 2_000, video: 5_000 };

/** @param path the part of the path after `/v1` */
export async function callReplicate(
  { upstream }: ProviderRequest,
  path: string,
  call: UpstreamCall,
): Promise<UpstreamReply> {
  const headers = { ...call.headers, authorization: `Bearer ${upstream.apiKey}` };
  return upstreamFetch(`${upstream.baseUrl}${path}`, { ...call, headers });
}
