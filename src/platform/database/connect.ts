import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { createDataSource } from './data-source.ts';
import type { WatchdogPoolConfig } from './watchdog-pool.ts';

/** One try ends after 2 s, which is the timeout for requests. On a busy machine a start may need several tries. */
const TRIES = 15;
/** At a start all modules ask for a connection at once, so on a busy machine a connection may take long. */
const START_TIMEOUT_MS = 30_000;
/**
 * pg-pool has two messages for a timeout. Which one comes depends on how far the connection came. pg itself has a
 * third.
 */
const TIMED_OUT = /timeout exceeded when trying to connect|due to connection timeout|timeout expired/;

/**
 * Connects to a database that is known to run. Tries again while the database is slow to accept connections.
 * @param pool overrides the pool's settings
 * @throws Error of the last try
 */
export async function connectDataSource(url: string, pool?: WatchdogPoolConfig): Promise<DataSource> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await createDataSource(url, pool).initialize();
    } catch (error) {
      if (tries === TRIES || !(error instanceof Error && TIMED_OUT.test(error.message))) throw error;
    }
  }
}

/** Runs `start`. Until it ends, a statement may wait for a connection of the pool longer than usual. */
export async function whileStarting<Result>(dataSource: DataSource, start: () => Promise<Result>): Promise<Result> {
  const { options } = (dataSource.driver as PostgresDriver).master as Pool;
  const { connectionTimeoutMillis } = options;
  options.connectionTimeoutMillis = START_TIMEOUT_MS;
  return start().finally(() => (options.connectionTimeoutMillis = connectionTimeoutMillis));
}
