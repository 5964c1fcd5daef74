import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { declaredOf } from './http-call.ts';
import { jobFailure } from './http-errors.ts';
import { valuesAt } from './json-at.ts';

/** All else is base64. A JPEG in base64 begins with a slash too. */
const LINK = /^(https?:\/\/|\/(?!9j\/)|data:)/;

/**
 * The results of an answer: links, absolute ones and those of the server itself, and `data:` URLs.
 * @throws ProviderError when there is none
 */
export function outputsIn(request: ProviderRequest, reply: UpstreamReply): string[] {
  const { outputs = '$' } = declaredOf(request);
  const texts = valuesAt(reply.json, outputs).filter((value) => typeof value === 'string' && value !== '') as string[];
  if (texts.length === 0) throw jobFailure(request, reply);
  return texts.map((text) => {
    if (!LINK.test(text)) return `data:;base64,${text}`;
    return text.startsWith('/') ? new URL(text, request.upstream.baseUrl).href : text;
  });
}

/**
 * Links of an answer are text of the server: they lead to itself, or to the hosts that the declaration names.
 * @throws ProviderError internal_error
 */
export function assertOwnLinks(request: ProviderRequest, urls: string[]): string[] {
  const { result_hosts = [] } = declaredOf(request);
  const own = new URL(request.upstream.baseUrl).origin;
  for (const url of urls) {
    if (url.startsWith('data:')) continue;
    const parsed = URL.parse(url);
    if (parsed && (parsed.origin === own || result_hosts.some((host) => isHost(parsed, host)))) continue;
    const cause = operatorCause('http', request.upstream.apiKey, { code: 'link_of_another_host', message: url });
    throw new ProviderError('internal_error', { cause });
  }
  return urls;
}

/** `cdn.example.com`, `*.example.com`, with a port if it is unusual. */
function isHost({ hostname, host, port }: URL, allowed: string): boolean {
  const name = allowed.includes(':') ? host : port === '' ? hostname : null;
  if (name === null) return false;
  return allowed.startsWith('*.') ? name.endsWith(allowed.slice(1)) : name === allowed;
}
