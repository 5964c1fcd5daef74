import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { createDataSource } from './data-source.ts';
import type { WatchdogPoolConfig } from './watchdog-pool.ts';

/** A connection is given up after 2 s, which suits requests. On a busy machine a start may need longer. */
const TRIES = 15;
/** All modules ask at once when they start, so on a busy machine the connections of the pool are made slowly. */
const START_TIMEOUT_MS = 30_000;
/** pg-pool words it in two ways, by how far the connection came, and pg in a third when several servers are asked. */
const TIMED_OUT = /timeout exceeded when trying to connect|due to connection timeout|timeout expired/;

/**
 * Connects to a database that is known to run, and waits while it accepts connections late.
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

/** Until `start` has ended, statements wait longer for a connection of the pool than those of requests do later. */
export async function whileStarting<Result>(dataSource: DataSource, start: () => Promise<Result>): Promise<Result> {
  const { options } = (dataSource.driver as PostgresDriver).master as Pool;
  const { connectionTimeoutMillis } = options;
  options.connectionTimeoutMillis = START_TIMEOUT_MS;
  return start().finally(() => (options.connectionTimeoutMillis = connectionTimeoutMillis));
}
