import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** RFC 6052: an IPv6-only host reaches IPv4 through this prefix; the last 32 bits are the IPv4 address. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Virtual host address that answers the machines of one cloud (Azure) as its metadata service, though it looks public. */
const CLOUD_HOST = ipaddr.IPv4.parse('168.63.129.16');

/**
 * Whether an address belongs to the public internet: global unicast, and in none of IANA's special-purpose registries.
 * Forms that carry an IPv4 address are judged by it (mapped, NAT64) or refused (compatible, 6to4, Teredo, SIIT).
 * @param ip as DNS, a socket or a parsed URL gives it, without brackets; anything else is not public
 */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0) return false;
  const address = parse(ip);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && !address.match(CLOUD_HOST, 32);
  if (address.match(NAT64)) return isPublicAddress(new ipaddr.IPv4(address.toByteArray().slice(12)).toString());
  // 2000::/3 is all that IANA has given out for global unicast; whatever lies outside is special or not assigned.
  return (address.parts[0] & 0xe000) === 0x2000 && address.range() === 'unicast';
}

/** Whether the operator has made an exception for this address; a mapped one is judged as the IPv4 address it carries. */
export function isExcepted(ip: string, cidrs: readonly string[]): boolean {
  if (cidrs.length === 0 || isIP(ip) === 0) return false;
  const address = parse(ip);
  return networksOf(cidrs).some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

const networks = new WeakMap<readonly string[], ReturnType<typeof ipaddr.parseCIDR>[]>();

/** The list is the configuration's, and every request asks. */
function networksOf(cidrs: readonly string[]): ReturnType<typeof ipaddr.parseCIDR>[] {
  const known = networks.get(cidrs) ?? cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  networks.set(cidrs, known);
  return known;
}

/**
 * A mapped address becomes the IPv4 address it carries. The zero in front is for ipaddr.js, which takes `::a.b.c.d`, an
 * IPv4-compatible address (RFC 4291, deprecated), for a mapped one.
 */
function parse(ip: string): ipaddr.IPv4 | ipaddr.IPv6 {
  if (isIP(ip) === 4) return ipaddr.IPv4.parse(ip); // what `process` finds out by errors that it throws and catches
  return ipaddr.process(ip.replace(/^::(?=\d+\.)/, '0::'));
}
