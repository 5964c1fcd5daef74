import type { Answer } from './choose.ts';
import { goesOnPlain, urlOf } from './encryption.ts';
import type { DatabaseHost } from '../../config/database-hosts.ts';
import { ServerClient } from './server-client.ts';

/**
 * Reads the timeline from the WAL position. After a promotion the new timeline is in the WAL position at once, but in
 * the control file only after the next checkpoint.
 */
const IDENTITY = `select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline,
  (select system_identifier::text from pg_control_system()) as system`;

/**
 * Asks a server for its role, over a new connection. Only a primary gets a statement.
 * @param timeoutMs for the connection and for the statement; a server that takes longer counts as away
 */
export async function ask(host: DatabaseHost, timeoutMs: number): Promise<Answer> {
  const client = new ServerClient({
    connectionString: urlOf(host),
    application_name: 'darkroom:primary',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { role } = client;
    if (role !== 'primary') return { host, role };
    const { rows } = await client.query<{ timeline: string; system: string }>(IDENTITY);
    return { host, role, timeline: Number.parseInt(rows[0]!.timeline, 16), system: rows[0]!.system };
  } catch (cause) {
    if (goesOnPlain(host, cause)) return ask(host, timeoutMs);
    return { host, role: 'away', cause: cause as Error };
  } finally {
    void client.end().catch(() => undefined);
  }
}
