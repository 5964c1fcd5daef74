import OpenAI from 'openai';
import { userAgent } from '../../platform/outbound/user-agent.ts';
import type { Upstream } from '../provider.ts';
import type { WatchedCall } from '../wire/watched-call.ts';

/** The SDK's timer covers the answer's head only; the watched call bounds the whole. */
const NEVER_MS = 2 ** 31 - 1;

/** The SDK for one call. Sends once; every setting is given, since the SDK looks for a missing one in the environment. */
export function openaiClient({ baseUrl, apiKey }: Upstream, watched: WatchedCall): OpenAI {
  return new OpenAI({
    baseURL: baseUrl,
    apiKey: apiKey ?? 'none', // it insists on one; the header is left out below
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: NEVER_MS,
    logLevel: 'off',
    fetch: watched.fetch,
    defaultHeaders: { 'User-Agent': userAgent('generation'), ...(apiKey === null && { Authorization: null }) },
  });
}
