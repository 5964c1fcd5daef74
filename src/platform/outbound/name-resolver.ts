import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { OutboundError } from './outbound-error.ts';

/** A DNS server that does not answer costs 2 to 3 s. That is less than the 5 s that a connection may take. */
const DNS_LIMITS = { timeout: 1000, tries: 2 };

const HOSTS_FILE = '/etc/hosts';

/**
 * Resolves a name to all its addresses: from the hosts file, otherwise from the system's DNS servers.
 *
 * It does not use `dns.lookup`, whose calls occupy threads of libuv's pool, by default at most two at once. Two names
 * with a dead DNS server would then block every other lookup of this process. `Resolver` waits on sockets.
 */
export class NameResolver {
  private readonly dns = new Resolver(DNS_LIMITS);

  /** @param servers `address:port` of DNS servers; the system's when absent */
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

/** The addresses of a name in the text of a hosts file. */
export function addressesIn(hosts: string, name: string): string[] {
  const searched = name.toLowerCase().replace(/\.$/, '');
  return hosts.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return isIP(address) !== 0 && names.some((known) => known.toLowerCase() === searched) ? [address] : [];
  });
}

async function readHostsFile(): Promise<string> {
  return readFile(HOSTS_FILE, 'utf8').catch(() => ''); // a system without the file has no local names
}
