import { isIP } from 'node:net';
import type { Config } from '../config/config.ts';
import { ApiError } from '../../errors/api-error.ts';
import { isExcepted, isPublicAddress } from './public-address.ts';

/** The operator's exceptions, which every `Config` has. */
export type OutboundRules = Pick<Config, 'outboundAllowCidrs' | 'outboundAllowHttp'>;

export const MAX_URL_CHARS = 2048;

/** Ports above 1023 are allowed, except the usual ports of databases and caches, which often accept any client. */
const STORE_PORTS = new Set([3306, 5432, 6379, 9200, 11211, 27017]);

const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * Checks the form, scheme, literal address and port of a URL that a client sent. Uses no network. The addresses of a
 * name may change, so they are checked at each attempt (`refusedAddress`).
 * @param demands `https`: http is refused unless the operator allows it; `param`: the field that an error names
 * @returns the parsed URL; its hostname is canonical (decimal, octal, hexadecimal, full-width and encoded forms are
 *   resolved)
 * @throws ApiError invalid_url, url_not_allowed; the message depends on the text and the rules, never on the server's
 *   answer
 */
export function checkOutboundUrl(text: string, rules: OutboundRules, demands: { https: boolean; param?: string }): URL {
  const { param } = demands;
  const url = parse(text);
  if (!url) {
    const message = `This must be an absolute ${demands.https ? 'https' : 'http or https'} URL without user name and of at most ${MAX_URL_CHARS} characters.`;
    throw new ApiError('invalid_url', { param, message });
  }
  if (url.protocol === 'http:' && demands.https && !rules.outboundAllowHttp) {
    throw new ApiError('url_not_allowed', { param, message: 'This URL must start with https://.' });
  }
  const addresses = knownAddresses(url);
  if (addresses) {
    if (addresses.some((ip) => isExcepted(ip, rules.outboundAllowCidrs))) return url;
    if (!addresses.every(isPublicAddress)) {
      throw new ApiError('url_not_allowed', { param, message: 'This URL must lead to a public address.' });
    }
  }
  // If there are exceptions, a name may resolve to an excepted address, which may use any port.
  if (isRefusedPort(url) && (addresses || rules.outboundAllowCidrs.length === 0)) {
    throw new ApiError('url_not_allowed', {
      param,
      message: 'This port may not be called: use 80, 443 or one above 1023 that no database uses.',
    });
  }
  return url;
}

/**
 * The addresses of a URL that need no DNS: its literal address, or loopback for the localhost names (RFC 6761).
 * @returns null for any other name
 */
export function knownAddresses(url: URL): string[] | null {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return [host];
  return /^(.+\.)?localhost\.?$/.test(host) ? LOOPBACK : null;
}

/**
 * The first of these addresses that may not be called for this URL; undefined if all may.
 * One refused address makes the whole name refused: a DNS answer that mixes public and private addresses is suspicious.
 */
export function refusedAddress(addresses: readonly string[], url: URL, rules: OutboundRules): string | undefined {
  return addresses.find(
    (ip) => !isExcepted(ip, rules.outboundAllowCidrs) && (!isPublicAddress(ip) || isRefusedPort(url)),
  );
}

function parse(text: string): URL | null {
  if (text.length > MAX_URL_CHARS) return null;
  // The parser would repair blanks, control characters, backslashes and missing slashes. Other readers of the same text
  // may repair them differently, so such text is refused.
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return null;
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined || authority.includes('@')) return null;
  return URL.parse(text);
}

function isRefusedPort(url: URL): boolean {
  if (url.port === '') return false; // 80 or 443
  const port = Number(url.port);
  return port < 1024 ? port !== 80 && port !== 443 : STORE_PORTS.has(port);
}
