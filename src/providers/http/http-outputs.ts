import type { ProviderRequest } from '../contract/provider.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { declaredOf } from './http-call.ts';
import { jobFailure } from './http-errors.ts';
import { valuesAt } from './json-at.ts';

/** Matches links; any other text is base64. A JPEG in base64 begins with a slash too: `/9j/`. */
const LINK = /^(https?:\/\/|\/(?!9j\/)|data:)/;

/**
 * The results of an answer: absolute links, paths of the server itself, and `data:` URLs.
 * @throws ProviderError when there is none
 */
export function outputsIn(request: ProviderRequest, reply: UpstreamReply): string[] {
  const { outputs = '$' } = declaredOf(request);
  const texts = valuesAt(reply.json, outputs).filter((value) => typeof value === 'string' && value !== '') as string[];
  if (texts.length === 0) throw jobFailure(request, reply);
  return texts.map((text) => (LINK.test(text) ? text : `data:;base64,${text}`));
}

/**
 * Whether a link in an answer, or a redirect, may be followed: to the server itself, or to a host that the declaration
 * names. The text of a link is not trusted.
 */
export function mayLead(request: ProviderRequest, url: URL): boolean {
  const { result_hosts = [] } = declaredOf(request);
  return url.origin === new URL(request.upstream.baseUrl).origin || result_hosts.some((host) => isHost(url, host));
}

/**
 * Whether a URL has an allowed host: `cdn.example.com` or `*.example.com`, with the port if it is not the default one.
 */
function isHost({ hostname, host, port }: URL, allowed: string): boolean {
  const name = allowed.includes(':') ? host : port === '' ? hostname : null;
  if (name === null) return false;
  return allowed.startsWith('*.') ? name.endsWith(allowed.slice(1)) : name === allowed;
}
