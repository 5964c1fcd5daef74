import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** RFC 6052: an IPv6-only host reaches IPv4 through this prefix; the last 32 bits are the IPv4 address. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** A public-looking address at which Azure serves metadata to its virtual machines. */
const CLOUD_HOST = ipaddr.IPv4.parse('168.63.129.16');

/**
 * Whether an address belongs to the public internet: global unicast, and in none of IANA's special-purpose registries.
 * If an IPv6 address contains an IPv4 address, the latter decides (mapped, NAT64), or the address is refused
 * (compatible, 6to4, Teredo, SIIT).
 * @param ip as returned by DNS, a socket or a parsed URL, without brackets; any other text is not public
 */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0) return false;
  const address = parse(ip);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && !address.match(CLOUD_HOST, 32);
  if (address.match(NAT64)) return isPublicAddress(new ipaddr.IPv4(address.toByteArray().slice(12)).toString());
  // IANA has assigned global unicast from 2000::/3 only; every address outside is special or unassigned.
  return (address.parts[0] & 0xe000) === 0x2000 && address.range() === 'unicast';
}

/** Whether the operator has excepted this address. For a mapped address, its IPv4 address decides. */
export function isExcepted(ip: string, cidrs: readonly string[]): boolean {
  if (cidrs.length === 0 || isIP(ip) === 0) return false;
  const address = parse(ip);
  return networksOf(cidrs).some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

const networks = new WeakMap<readonly string[], ReturnType<typeof ipaddr.parseCIDR>[]>();

/** Cached: `cidrs` comes from the configuration, and every request needs its networks. */
function networksOf(cidrs: readonly string[]): ReturnType<typeof ipaddr.parseCIDR>[] {
  const known = networks.get(cidrs) ?? cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  networks.set(cidrs, known);
  return known;
}

/**
 * Parses an address, and turns a mapped one into its IPv4 address. ipaddr.js mistakes `::a.b.c.d`, an IPv4-compatible
 * address (RFC 4291, deprecated), for a mapped one. A leading zero prevents that.
 */
function parse(ip: string): ipaddr.IPv4 | ipaddr.IPv6 {
  // Faster than `process`, which throws and catches errors to find out the kind of an address.
  if (isIP(ip) === 4) return ipaddr.IPv4.parse(ip);
  return ipaddr.process(ip.replace(/^::(?=\d+\.)/, '0::'));
}
