import type OpenAI from 'openai';
import { userAgent } from '../../platform/outbound/user-agent.ts';
import { traces } from '../../platform/observe/traces/traces.ts';
import type { Upstream } from '../contract/provider.ts';
import type { WatchedCall } from '../wire/watched-call.ts';

/**
 * Switches off the time-out of the SDK, which covers only the headers of the reply. The watched call limits the time of
 * the whole reply.
 */
const NEVER_MS = 2 ** 31 - 1;

/**
 * An SDK client for one call, without retries. Passes every setting, because the SDK reads missing ones from the
 * environment. The first call loads the SDK: its 240 modules would make the start of every service slower.
 */
export async function openaiClient({ baseUrl, apiKey }: Upstream, watched: WatchedCall): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  return new Client({
    baseURL: baseUrl,
    apiKey: apiKey ?? 'none', // the SDK requires one; the header is removed below
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: NEVER_MS,
    logLevel: 'off',
    fetch: watched.fetch,
    defaultHeaders: {
      'User-Agent': userAgent('generation'),
      ...(apiKey === null && { Authorization: null }),
      ...traces.propagated,
    },
  });
}
