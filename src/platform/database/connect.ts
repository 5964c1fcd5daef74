import type { DataSource } from 'typeorm';
import { createDataSource } from './data-source.ts';
import type { WatchdogPoolConfig } from './watchdog-pool.ts';

/** A connection is given up after 2 s, which suits requests. On a busy machine a start may need longer. */
const TRIES = 15;
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
