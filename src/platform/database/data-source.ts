import pg from 'pg';
import { DataSource, type DataSourceOptions, getMetadataArgsStorage } from 'typeorm';
import { WatchdogPool, type WatchdogPoolConfig } from './watchdog-pool.ts';
import type { Config } from '../config/config.ts';
import { MIGRATIONS } from './migrations.ts';
import { connectTimeoutOf, hostsOf } from '../config/database-hosts.ts';

/**
 * Planner settings that make every statement use the index that was made for it. They hold for TypeORM's queries too. A
 * connection keeps a generic plan as long as it lives. So a plan that reads the whole table, made while the table was
 * small, would still do so when the table is large.
 * - `jit`: with sequential scans off, the estimated costs of small tables would trigger JIT.
 * - `plan_cache_mode`: PostgreSQL plans a statement only at its first execution. By default it may plan the statement
 *   again at every execution.
 * - `random_page_cost`: the value for an SSD. At the default of 4, PostgreSQL reads the tasks of one API key in a
 *   period through the index of the primary key, and so passes the tasks of all other API keys.
 * See docs/decisions/0016-planner-settings.md.
 */
export const PLANNER = [
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_material=off',
  'jit=off',
  'plan_cache_mode=force_generic_plan',
  'random_page_cost=1.1',
];

/** Sent to PostgreSQL at the start of every connection. Times are milliseconds. */
export const SESSION_SETTINGS = {
  statement_timeout: 30_000,
  lock_timeout: 2_000,
  // Otherwise a process that hangs in a transaction would block every statement that waits for one of its locks.
  idle_in_transaction_session_timeout: 5_000,
  options: PLANNER.map((setting) => `-c ${setting}`).join(' '),
} satisfies pg.ClientConfig;

/** Settings of every pool. */
const POOL: pg.PoolConfig = {
  ...SESSION_SETTINGS,
  max: 20,
  query_timeout: 35_000, // the server ends a statement 5 s earlier: without its answer the connection is dead
  connectionTimeoutMillis: 2_000, // unless the URL has a connect_timeout
  application_name: 'darkroom',
  keepAlive: true,
  pipeline: true, // needed by `Sql.transaction`
};

/** A pooler refuses these settings from a client, so the database role has them: see role-settings.ts. */
const BEHIND_POOLER: WatchdogPoolConfig = {
  statement_timeout: undefined,
  lock_timeout: undefined,
  idle_in_transaction_session_timeout: undefined,
  options: undefined,
  isBehindPooler: true,
};

/** Settings of the service's pool, from the configuration. */
export const poolOf = ({ databasePooler, databasePoolMax }: Config): WatchdogPoolConfig => ({
  max: databasePoolMax,
  ...(databasePooler === 'transaction' && BEHIND_POOLER),
});

/**
 * Makes a data source for the service, the CLI, migrations and tests. It is not connected yet: call `initialize()`, and
 * `destroy()` at the end. It has the entities whose files were imported before the call. So this file need not import
 * the modules that own them.
 * @param pool overrides the pool's settings
 */
export function createDataSource(url: string, pool: WatchdogPoolConfig = {}): DataSource {
  const entities = getMetadataArgsStorage().tables.map((table) => table.target);
  return new DataSource({ ...dataSourceOptions(url, pool), entities });
}

/** The options of every data source, without entities. */
export function dataSourceOptions(url: string, pool: WatchdogPoolConfig = {}): DataSourceOptions {
  const timeoutMs = connectTimeoutOf(url);
  return {
    type: 'postgres',
    url: hostsOf(url).hosts[0].url, // TypeORM takes one host; the pool takes all from `databaseUrl`
    // Passed explicitly, because TypeORM's own require() finds another copy of pg under Jest.
    driver: { ...pg, Pool: WatchdogPool },
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false, // statements may contain prompts
    installExtensions: false,
    extra: { ...POOL, ...(timeoutMs && { connectionTimeoutMillis: timeoutMs }), ...pool, databaseUrl: url },
  };
}
