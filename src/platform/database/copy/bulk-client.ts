import type { Client } from 'pg';
import { Servers } from '../servers/servers.ts';

/** How long to wait for a lock of another session, such as a migration's. */
const LOCK_TIMEOUT_MS = 10_000;

/**
 * The first four settings replace values that could end or slow a copy. The others make the copied text the same on
 * every server.
 */
const SETTINGS = [
  'set statement_timeout = 0',
  'set idle_in_transaction_session_timeout = 0',
  `set lock_timeout = ${LOCK_TIMEOUT_MS}`,
  'set enable_seqscan = on',
  // By default a scan may join a running scan in the middle of the table, and return the rows in another order.
  'set synchronize_seqscans = off',
  `set timezone = 'UTC'`,
  `set datestyle = 'ISO, YMD'`,
  `set intervalstyle = 'postgres'`,
  `set bytea_output = 'hex'`,
  'set extra_float_digits = 1',
  `set client_encoding = 'UTF8'`,
].join('; ');

/** Runs `work` with a connection for copies of whole tables. */
export async function withBulkClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await new Servers(url).connect({ application_name: 'darkroom:copy', keepAlive: true });
  try {
    await client.query(SETTINGS);
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
