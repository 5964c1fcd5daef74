import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { Pool } from 'pg';
import { CALL_BUCKETS } from '../observe/measuring/buckets.ts';
import { counter, histogram } from '../observe/measuring/declare.ts';
import type { Metrics } from '../observe/measuring/metrics.ts';

const waitSeconds = histogram(
  'darkroom_database_wait_seconds',
  'Time for which a caller waited for a connection of the pool, also in vain.',
  CALL_BUCKETS,
);

export const databaseSwitches = counter(
  'darkroom_database_switches_total',
  'Switches of this process to another PostgreSQL server, which has become the primary.',
);

/** Records how long a caller waited for a connection. @param sinceMs when the caller asked, on the monotonic clock */
export function connectionAwaited(sinceMs: number): void {
  waitSeconds.observe((performance.now() - sinceMs) / 1000);
}

export function registerPoolMetrics(metrics: Metrics, dataSource: DataSource): void {
  const pool = (): Pool => (dataSource.driver as PostgresDriver).master as Pool;
  metrics.gauges('darkroom_database_connections', 'Connections of the pool.', ['state'], (set) => {
    const { idleCount, totalCount } = pool();
    set({ state: 'idle' }, idleCount);
    set({ state: 'used' }, totalCount - idleCount);
  });
  metrics.gauge('darkroom_database_connections_max', 'Most connections of the pool.', () => pool().options.max);
  metrics.gauge('darkroom_database_waiting_requests', 'Callers that wait for a connection of the pool.', () => {
    return pool().waitingCount;
  });
}
