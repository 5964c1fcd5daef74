import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { DataSource, Logger } from 'typeorm';
import { createDataSource } from './data-source.ts';
import { MIGRATIONS } from './migrations.ts';
import { assertNotTooOld, noteOldestPrograms } from './oldest-program.ts';
import { keepSettingsInRole } from './role-settings.ts';
import { Servers } from './servers/servers.ts';

/**
 * Key of the advisory lock: an arbitrary fixed number that no other program uses in this database ("dark" in ASCII).
 */
const LOCK = 0x6461726b;

/**
 * A migration that waits for a lock on a table blocks every later statement on that table. Behind one long query it
 * would stop the service. So after this time the migration gives up, lets these statements pass, and tries again.
 */
const LOCK_TIMEOUT_MS = 2_000;
const MAX_TRIES = 10;
const PAUSE_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';
/** Milliseconds between two tries to become the process that migrates. */
const POLL_MS = 250;

const ignore = (): void => undefined;

/**
 * TypeORM would print each failure as plain text, even before another try. Nothing is lost, because TypeORM throws each
 * failure too.
 */
const SILENT: Logger = {
  logQuery: ignore,
  logQueryError: ignore,
  logQuerySlow: ignore,
  logSchemaBuild: ignore,
  logMigration: ignore,
  log: ignore,
};

/**
 * Runs all pending migrations. Several processes may call this at the same time: one of them migrates, the others wait
 * and then find nothing to do.
 * @param url the URL that bypasses the pooler, if there is one
 * @param options.maxTries how often to wait 2 s for a table that another transaction keeps locked
 * @throws Error for the operator if this program is too old for the database, or a table stays locked
 */
export async function migrate(url: string, { isBehindPooler = false, maxTries = MAX_TRIES } = {}): Promise<void> {
  await withMigrationLock(url, async (holder) => {
    await assertNotTooOld(holder);
    await runMigrations(url, { maxTries });
    await noteOldestPrograms(holder);
    if (isBehindPooler) await keepSettingsInRole(url);
  });
}

/**
 * Runs only the named migrations of this program. Use this before you insert rows from a database in which only these
 * migrations had run.
 */
export async function migrateTo(url: string, names: readonly string[]): Promise<void> {
  await withMigrationLock(url, () => runMigrations(url, { names }));
}

async function withMigrationLock(url: string, work: (holder: Client) => Promise<void>): Promise<void> {
  // A session lock ends with its connection, so a killed migration leaves no lock behind.
  const holder = await new Servers(url).connect({ application_name: 'darkroom:migrate', keepAlive: true });
  try {
    while (!(await takeLock(holder))) await sleep(POLL_MS);
    await work(holder);
  } finally {
    await holder.end();
  }
}

/**
 * Tries to take the lock instead of waiting for it in a statement. The process that has the lock may build an index
 * concurrently. The build would wait for the end of that statement, and the statement for the lock, for ever.
 * @returns whether this session has the lock
 */
async function takeLock(holder: Client): Promise<boolean> {
  const { rows } = await holder.query<{ is_mine: boolean }>('select pg_try_advisory_lock($1) as is_mine', [LOCK]);
  return rows[0]!.is_mine;
}

async function runMigrations(
  url: string,
  { names, maxTries = MAX_TRIES }: { names?: readonly string[]; maxTries?: number },
): Promise<void> {
  const dataSource = createDataSource(url, {
    max: 2,
    statement_timeout: 0,
    query_timeout: 0,
    lock_timeout: LOCK_TIMEOUT_MS,
    connectionTimeoutMillis: 0,
    idle_in_transaction_session_timeout: 0,
  });
  dataSource.logger = SILENT;
  if (names) dataSource.setOptions({ migrations: MIGRATIONS.filter(({ name }) => names.includes(name)) });
  await dataSource.initialize();
  try {
    await runWhenUnlocked(dataSource, maxTries);
  } finally {
    await dataSource.destroy();
  }
}

/** Each migration is its own transaction, so a later try begins with the migration that failed. */
async function runWhenUnlocked(dataSource: DataSource, maxTries: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await dataSource.runMigrations();
      return;
    } catch (cause) {
      if ((cause as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw cause;
      if (tries === maxTries) {
        const message = `The database was not migrated: in ${maxTries} tries of ${LOCK_TIMEOUT_MS / 1000} s, another transaction kept a table locked. End it and try again.`;
        throw new Error(message, { cause });
      }
      await sleep(PAUSE_MS);
    }
  }
}
