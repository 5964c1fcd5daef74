import type { Client } from 'pg';
import { Servers } from '../servers/servers.ts';

/** Milliseconds for a lock that another session holds, such as a migration. */
const LOCK_TIMEOUT_MS = 10_000;

/** What a role or a pooler has set must not end or slow a copy; the rest makes its text the same everywhere. */
const SETTINGS = [
  'set statement_timeout = 0',
  'set idle_in_transaction_session_timeout = 0',
  `set lock_timeout = ${LOCK_TIMEOUT_MS}`,
  'set enable_seqscan = on',
  // Otherwise a scan may begin in the middle of a table, beside another one, and give the rows in another order.
  'set synchronize_seqscans = off',
  `set timezone = 'UTC'`,
  `set datestyle = 'ISO, YMD'`,
  `set intervalstyle = 'postgres'`,
  `set bytea_output = 'hex'`,
  'set extra_float_digits = 1',
  `set client_encoding = 'UTF8'`,
].join('; ');

/** A connection that copies whole tables. */
export async function withBulkClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await new Servers(url).connect({ application_name: 'darkroom:copy', keepAlive: true });
  try {
    await client.query(SETTINGS);
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
