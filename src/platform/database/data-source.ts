import pg from 'pg';
import { DataSource, type DataSourceOptions, getMetadataArgsStorage } from 'typeorm';
import { WatchdogPool, type WatchdogPoolConfig } from './watchdog-pool.ts';
import type { Config } from '../config/config.ts';
import { MIGRATIONS } from './migrations.ts';
import { connectTimeoutOf, hostsOf } from '../config/database-hosts.ts';

/**
 * Makes every statement use the index that was made for it. A connection keeps a generic plan for as long as it lives,
 * so a plan made while a table was small would still read the whole table when it is large. The generic plan is made at
 * once: otherwise PostgreSQL may plan a statement again at each execution. The settings hold for TypeORM's queries too.
 * A page at random costs little more than the next one, as on an SSD: at PostgreSQL's default of 4, a window of time is
 * read from the primary key, past the tasks of all other keys. With seqscan off, cost estimates of small tables would
 * trigger JIT. See docs/decisions/0016-planner-settings.md.
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
  // A process that hangs inside a transaction would otherwise block all waiters for its locks, such as a key's creates.
  idle_in_transaction_session_timeout: 5_000,
  options: PLANNER.map((setting) => `-c ${setting}`).join(' '),
} satisfies pg.ClientConfig;

/** Of every pooled connection. */
const POOL: pg.PoolConfig = {
  ...SESSION_SETTINGS,
  max: 20,
  query_timeout: 35_000, // the server has given up 5 s earlier, so the connection is dead
  connectionTimeoutMillis: 2_000, // unless the URL has a connect_timeout
  application_name: 'darkroom',
  keepAlive: true,
  pipeline: true, // for `Sql.transaction`
};

/** A pooler refuses settings of a client, so the role has them: see role-settings.ts. */
const BEHIND_POOLER: WatchdogPoolConfig = {
  statement_timeout: undefined,
  lock_timeout: undefined,
  idle_in_transaction_session_timeout: undefined,
  options: undefined,
  isBehindPooler: true,
};

/** What the configuration says about the pool of the service. */
export const poolOf = ({ databasePooler, databasePoolMax }: Config): WatchdogPoolConfig => ({
  max: databasePoolMax,
  ...(databasePooler === 'transaction' && BEHIND_POOLER),
});

/**
 * Makes a data source for the service, the CLI, migrations and tests. It is not connected yet: call `initialize()`, and
 * `destroy()` at the end. Its entities are those whose files have been imported by now, so this floor names no module
 * above it.
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
    url: hostsOf(url).hosts[0].url, // TypeORM cannot read several; the pool takes them from `databaseUrl`
    // Passed explicitly, because TypeORM's own require() finds another copy of pg under Jest.
    driver: { ...pg, Pool: WatchdogPool },
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false, // statements carry prompts
    installExtensions: false,
    extra: { ...POOL, ...(timeoutMs && { connectionTimeoutMillis: timeoutMs }), ...pool, databaseUrl: url },
  };
}
