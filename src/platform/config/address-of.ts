import { isIPv6 } from 'node:net';

/** Loopback addresses for a server that listens on all addresses: on some systems browsers cannot call 0.0.0.0. */
const OF_ALL: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * The URL by which a client on this machine calls a server that listens on `host`. A URL cannot contain the zone of a
 * link-local address, so the zone is left out.
 */
export function addressOf(host: string, port: number): string {
  const [called = ''] = (OF_ALL[host] ?? host).split('%');
  return `http://${isIPv6(called) ? `[${called}]` : called}:${port}`;
}
