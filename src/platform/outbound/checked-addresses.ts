import type { NameResolver } from './name-resolver.ts';
import { OutboundError } from './outbound-error.ts';
import { knownAddresses, refusedAddress, type OutboundRules } from './url-rules.ts';

/**
 * The addresses of a URL's host, after a check that all of them may be called.
 * @throws OutboundError dns_failure; blocked_address if an address of the name may not be called. For localhost, one
 *   allowed address is enough
 */
export async function checkedAddresses(url: URL, rules: OutboundRules, names: NameResolver): Promise<string[]> {
  const isRefused = (ip: string) => refusedAddress([ip], url, rules) !== undefined;
  // localhost has two loopback addresses, and the rules may allow only one of them.
  const known = knownAddresses(url)?.filter((ip) => !isRefused(ip));
  const addresses = known ?? (await names.resolve(url.hostname));
  if (addresses.length === 0 || addresses.some(isRefused)) {
    throw new OutboundError('blocked_address', 'the name leads to an address that may not be called');
  }
  return addresses;
}
