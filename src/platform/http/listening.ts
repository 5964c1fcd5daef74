import { isIP } from 'node:net';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not; ports below 1024 are for root on many systems',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAFNOSUPPORT: 'this machine has no IPv6',
};

interface Where {
  host: string;
  /** The setting of the port. */
  variable: 'PORT' | 'OPS_PORT';
  port: number;
}

/**
 * Waits until a server listens.
 * @throws Error that names the settings of the host and the port. The operator may not have set HOST: shells and tools
 *   such as conda set it for purposes of their own.
 */
export async function listening({ host, variable, port }: Where, listen: () => Promise<unknown>): Promise<void> {
  try {
    await listen();
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    const reason = REASONS[code] ?? (isIP(host) === 0 ? 'HOST names no address of this machine' : message);
    throw new Error(`It cannot listen at HOST=${host} and ${variable}=${port}: ${reason} (${code}).`, { cause });
  }
}
