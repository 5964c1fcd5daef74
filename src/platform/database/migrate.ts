import { createDataSource } from './data-source.ts';
import { MIGRATIONS } from './migrations.ts';
import { keepSettingsInRole } from './role-settings.ts';
import { Servers } from './servers/servers.ts';

/** An arbitrary fixed number that no other program uses in this database ("dark" in ASCII). */
const LOCK = 0x6461726b;

/**
 * Runs all pending migrations. Several processes may call it at the same time: one of them migrates, the others wait and
 * then find nothing to do.
 * @param url past the pooler, if there is one
 */
export async function migrate(url: string, { isBehindPooler = false } = {}): Promise<void> {
  await withMigrationLock(url, async () => {
    await runMigrations(url);
    if (isBehindPooler) await keepSettingsInRole(url);
  });
}

/** Runs only those migrations of this program that are named, for rows that were written under them. */
export async function migrateTo(url: string, names: readonly string[]): Promise<void> {
  await withMigrationLock(url, () => runMigrations(url, names));
}

async function withMigrationLock(url: string, work: () => Promise<void>): Promise<void> {
  // A session lock ends with its connection, so a killed migration leaves no lock behind.
  const holder = await new Servers(url).connect({ application_name: 'darkroom:migrate', keepAlive: true });
  try {
    await holder.query('select pg_advisory_lock($1)', [LOCK]);
    await work();
  } finally {
    await holder.end();
  }
}

async function runMigrations(url: string, names?: readonly string[]): Promise<void> {
  const dataSource = createDataSource(url, {
    max: 2,
    statement_timeout: 0,
    query_timeout: 0,
    lock_timeout: 0,
    connectionTimeoutMillis: 0,
    idle_in_transaction_session_timeout: 0,
  });
  if (names) dataSource.setOptions({ migrations: MIGRATIONS.filter(({ name }) => names.includes(name)) });
  await dataSource.initialize();
  try {
    await dataSource.runMigrations();
  } finally {
    await dataSource.destroy();
  }
}
