import { isIPv6 } from 'node:net';

/**
 * What reaches a process on this machine that listens on all addresses: browsers of some systems do not call 0.0.0.0.
 */
const OF_ALL: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * The URL by which a client on this machine calls what listens on a host. The zone of a link-local address has no place
 * in it.
 */
export function addressOf(host: string, port: number): string {
  const [called = ''] = (OF_ALL[host] ?? host).split('%');
  return `http://${isIPv6(called) ? `[${called}]` : called}:${port}`;
}
