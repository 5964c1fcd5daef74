import { type PollOptions, pollOptions } from '../jobs/poll.ts';
import type { ProviderRequest } from '../contract/provider.ts';
import { type UpstreamCall, upstreamFetch, type UpstreamReply } from '../wire/upstream-fetch.ts';

export const ARK_POLL_MS = 5_000;

/** @param path the part of the path after `…/contents/generations/tasks` */
export function callArk(
  { upstream, taskId }: ProviderRequest,
  path: string,
  call: UpstreamCall,
): Promise<UpstreamReply> {
  const headers = { authorization: `Bearer ${upstream.apiKey}`, 'x-client-request-id': taskId };
  return upstreamFetch(`${upstream.baseUrl}/contents/generations/tasks${path}`, { ...call, headers });
}

export const arkPollOptions = (request: ProviderRequest, signal: AbortSignal): PollOptions =>
  pollOptions('ark', request, ARK_POLL_MS, signal);
