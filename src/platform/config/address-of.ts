import { isIPv6 } from 'node:net';

/**
 * What reaches this machine where a process listens on all of its addresses: no browser of every system calls 0.0.0.0.
 */
const OF_ALL: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * By which a client on this machine calls what listens on a host. The zone of a link-local address has no place in a
 * URL.
 */
export function addressOf(host: string, port: number): string {
  const [called = ''] = (OF_ALL[host] ?? host).split('%');
  return `http://${isIPv6(called) ? `[${called}]` : called}:${port}`;
}
