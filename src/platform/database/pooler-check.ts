import type { Client } from 'pg';
import { missingSettings } from './role-settings.ts';
import { Servers } from './servers/servers.ts';

/**
 * Rounds in which two clients run the prepared statement. One round is too few, because the pooler may give a client
 * any of its connections.
 */
const ROUNDS = 5;
const PREPARED = { name: 'darkroom.pooler_check', text: 'select 1' };
/** PostgreSQL's codes for a prepared statement that exists already, and for one that does not exist. */
const LOST_STATEMENT = ['42P05', '26000'];

/**
 * The process id of the server process behind a connection, and a text that identifies the role, the database and the
 * running server.
 */
const BEHIND = `select pg_backend_pid() as pid, current_user || ' in ' || current_database() || ' since ' ||
  extract(epoch from pg_postmaster_start_time()) as place`;

interface Behind {
  pid: number;
  place: string;
}

/**
 * Checks that both URLs lead to the same database. Call this before the migrations: otherwise they could change the
 * wrong database.
 * @throws Error for the operator if the databases differ; the errors of the connection
 */
export async function assertSameDatabase(url: string, directUrl: string): Promise<void> {
  await withClients([url, directUrl], async ([pooled, direct]) => {
    await begin([pooled!]);
    const [behind, own] = [await readBehind(pooled!), await readBehind(direct!)];
    if (behind.place !== own.place) {
      throw new Error('DATABASE_DIRECT_URL leads to another database, server or role than DATABASE_URL.');
    }
    // This connection was opened before the role got its settings. The pooler would keep the connection, so end it.
    if ((await missingSettings(pooled!)).length > 0) {
      await direct!.query('select pg_terminate_backend($1)', [behind.pid]);
    }
  });
}

/**
 * Refuses a pooler that would lose statements or settings. Call this after the migrations: they give the role its
 * settings, which only a new connection gets.
 * @throws Error for the operator; the errors of the connection
 */
export async function assertPooler(url: string): Promise<void> {
  await withClients([url, url], async (clients) => {
    // Both transactions are open at once, so that each has a connection of its own.
    await begin(clients);
    for (const client of clients) assertSettings(await missingSettings(client));
    for (const client of clients) await client.query('commit');
    await assertStatementsKept(clients);
  });
}

async function withClients(urls: string[], work: (clients: Client[]) => Promise<void>): Promise<void> {
  const clients: Client[] = [];
  try {
    for (const url of urls) {
      clients.push(await new Servers(url).connect({ application_name: 'darkroom:check', keepAlive: true }));
    }
    await work(clients);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

async function readBehind(client: Client): Promise<Behind> {
  return (await client.query<Behind>(BEHIND)).rows[0]!;
}

async function begin(clients: Client[]): Promise<void> {
  try {
    for (const client of clients) await client.query('begin');
  } catch (error) {
    if (!/statement pooling/.test((error as Error).message)) throw error;
    throw new Error('The pooler of DATABASE_URL is in statement mode. Set pool_mode=transaction.', { cause: error });
  }
}

function assertSettings(missing: string[]): void {
  if (missing.length === 0) return;
  throw new Error(
    `Connections of the pooler lack settings of the service (${missing.join(', ')}). Run \`npx darkroom migrate\`, which gives them to ` +
      'the role, then RECONNECT on the console of PgBouncer: connections get them when they are opened.',
  );
}

async function assertStatementsKept(clients: Client[]): Promise<void> {
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const client of clients) await client.query(PREPARED);
      await Promise.all(clients.map((client) => client.query(PREPARED)));
    }
  } catch (error) {
    if (!LOST_STATEMENT.includes((error as { code?: string }).code ?? '')) throw error;
    throw new Error(
      'The pooler of DATABASE_URL loses prepared statements. DATABASE_POOLER=transaction needs PgBouncer 1.21 or newer with ' +
        'max_prepared_statements=100 or more.',
      { cause: error },
    );
  }
}
