import ipaddr from 'ipaddr.js';

/**
 * What counts as one client: an IPv4 address, or the /64 network of an IPv6 address. One internet connection usually
 * has a whole /64 network.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const read = ipaddr.process(address); // ::ffff:192.0.2.1 becomes the IPv4 address 192.0.2.1
  return read instanceof ipaddr.IPv6 ? `${read.parts.slice(0, 4).join(':')}/64` : read.toString();
}
