import ipaddr from 'ipaddr.js';

/** What is counted as one client: an address, or the /64 of IPv6, all of which one connection has. */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const read = ipaddr.process(address); // an IPv4 address is one also in the form ::ffff:192.0.2.1
  return read instanceof ipaddr.IPv6 ? `${read.parts.slice(0, 4).join(':')}/64` : read.toString();
}
