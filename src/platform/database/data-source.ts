import pg from 'pg';
import { DataSource, getMetadataArgsStorage } from 'typeorm';
import { WatchdogPool } from './watchdog-pool.ts';
import { MIGRATIONS } from './migrations.ts';

/**
 * Whatever the planner believes of a table, the statements go by the index that is made for them: a plan is kept for as long as
 * its connection lives, and one made while the table was small would read all of it when it is large. Without seqscan the cost of
 * a small table without index looks enormous, which must not wake the compiler.
 */
const BY_INDEX = ['enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off', 'jit=off'];

/** How every connection of the pool behaves; milliseconds. */
const POOL: pg.PoolConfig = {
  max: 20,
  statement_timeout: 30_000,
  query_timeout: 35_000, // the server has given up by then, so the connection is dead
  lock_timeout: 2_000,
  // A process that stands still inside a transaction would keep everybody from what it has locked, a key's creates among it.
  idle_in_transaction_session_timeout: 5_000,
  connectionTimeoutMillis: 2_000,
  application_name: 'darkroom',
  keepAlive: true,
  pipeline: true, // `Sql.transaction`
  options: BY_INDEX.map((setting) => `-c ${setting}`).join(' '),
};

/**
 * The one way to the database. Not connected yet: call `initialize()`, and `destroy()` at the end.
 * Its entities are the ones whose files have been imported by now, so that this floor names no module above it.
 * @param pool changes to the pool's settings
 */
export function createDataSource(url: string, pool: pg.PoolConfig = {}): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    // Named, because TypeORM's own require() finds another copy of pg under Jest.
    driver: { ...pg, Pool: WatchdogPool },
    entities: getMetadataArgsStorage().tables.map((table) => table.target),
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false, // statements carry prompts
    installExtensions: false,
    extra: { ...POOL, ...pool },
  });
}
