import OpenAI from 'openai';
import { userAgent } from '../../platform/outbound/user-agent.ts';
import { traces } from '../../platform/traces/traces.ts';
import type { Upstream } from '../provider.ts';
import type { WatchedCall } from '../wire/watched-call.ts';

/** The SDK's timeout covers only the reply's headers. The watched call limits the whole reply. */
const NEVER_MS = 2 ** 31 - 1;

/** An SDK client for one call, without retries. Passes every setting, because the SDK reads missing ones from the environment. */
export function openaiClient({ baseUrl, apiKey }: Upstream, watched: WatchedCall): OpenAI {
  return new OpenAI({
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
