import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { OutboundError } from './outbound-error.ts';

/** A silent server costs 2 to 3 s: less than the 5 s that a connection may take. */
const DNS_LIMITS = { timeout: 1000, tries: 2 };

const HOSTS_FILE = '/etc/hosts';

/**
 * Every address of a name: from the hosts file, else from the DNS servers of the system.
 *
 * Not `dns.lookup`: each of those holds a thread of libuv's pool while it waits, at most two at once by default, so two
 * names with a dead DNS server would hold up every other call of this process. These questions wait on sockets.
 */
export class NameResolver {
  private readonly dns = new Resolver(DNS_LIMITS);

  /** @param servers `address:port` of DNS servers other than the system's */
  constructor(servers?: readonly string[]) {
    if (servers) this.dns.setServers(servers);
  }

  /** @throws OutboundError dns_failure */
  async resolve(name: string): Promise<string[]> {
    const local = addressesIn(await readHostsFile(), name);
    if (local.length > 0) return local;
    const answers = await Promise.allSettled([this.dns.resolve4(name), this.dns.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) {
      const causes = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
      throw new OutboundError('dns_failure', 'the name has no address', new AggregateError(causes));
    }
    return addresses;
  }
}

/** The addresses a hosts file gives a name. */
export function addressesIn(hosts: string, name: string): string[] {
  const wanted = name.toLowerCase().replace(/\.$/, '');
  return hosts.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return isIP(address) !== 0 && names.some((known) => known.toLowerCase() === wanted) ? [address] : [];
  });
}

async function readHostsFile(): Promise<string> {
  return readFile(HOSTS_FILE, 'utf8').catch(() => ''); // a system without one has no local names
}
