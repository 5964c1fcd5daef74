import type { DatabaseHost } from '../../config/database-hosts.ts';

/** What pg says when a server offers no encryption. */
const NO_ENCRYPTION = 'The server does not support SSL connections';

/**
 * Names of servers that offer no encryption and need not offer it (`sslmode=prefer`). Shared by the whole process:
 * otherwise each pool would have to find out.
 */
const plain = new Set<string>();

export const urlOf = (host: DatabaseHost): string => (plain.has(host.name) ? host.plainUrl! : host.url);

/** @returns whether a connection that failed is to be tried again, without encryption */
export function goesOnPlain(host: DatabaseHost, error: unknown): boolean {
  if (host.plainUrl === undefined || plain.has(host.name)) return false;
  if (!(error instanceof Error && error.message === NO_ENCRYPTION)) return false;
  plain.add(host.name);
  return true;
}
