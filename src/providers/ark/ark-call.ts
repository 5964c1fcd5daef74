import type { ProviderRequest } from '../provider.ts';
import type { PollOptions } from '../jobs/poll.ts';
import type { UpstreamCall } from '../wire/upstream-fetch.ts';

const POLL_MS = 5_000;

/** @param path what follows `…/contents/generations/tasks` */
export function arkCall(
  { upstream, taskId }: ProviderRequest,
  path: string,
  call: UpstreamCall,
): [string, UpstreamCall] {
  const headers = { authorization: `Bearer ${upstream.apiKey}`, 'x-client-request-id': taskId };
  return [`${upstream.baseUrl}/contents/generations/tasks${path}`, { ...call, headers }];
}

export function arkPatience({ upstream }: ProviderRequest, signal: AbortSignal): PollOptions {
  return { provider: 'ark', secret: upstream.apiKey, intervalMs: upstream.pollIntervalMs ?? POLL_MS, signal };
}
