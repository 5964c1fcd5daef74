import { runMigrations } from 'graphile-worker';
import { Client } from 'pg';
import { createDataSource } from './data-source.ts';
import { SteadyPool } from './pool.ts';
import { quietLogger } from '../jobs/quiet-logger.ts';

/** Any fixed number, known to nobody else in this database ("dark" in ASCII). */
const LOCK = 0x6461726b;

/**
 * The queue's `add_jobs` joins the new jobs to those waiting by key. Until the next ANALYZE the planner takes the table of
 * jobs for small and reads all of it: with 20,000 waiting 3.7 ms a job, against 0.7 ms by the index.
 */
const LOOK_UP_KEYS = `
  alter function graphile_worker.add_jobs(graphile_worker.job_spec[], boolean)
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;

/**
 * Brings the database to the present: our own migrations, then the job queue's. Processes may call it at the same time;
 * one works, the others wait and find nothing left to do.
 */
export async function migrate(url: string): Promise<void> {
  // Session locks end with their connection, so a killed migration blocks nobody.
  const holder = new Client({ connectionString: url, application_name: 'darkroom:migrate', keepAlive: true });
  holder.on('error', () => undefined);
  await holder.connect();
  try {
    await holder.query('select pg_advisory_lock($1)', [LOCK]);
    await runOurs(url);
    await runTheQueues(url);
  } finally {
    await holder.end();
  }
}

async function runOurs(url: string): Promise<void> {
  const dataSource = createDataSource(url, {
    max: 2,
    statement_timeout: 0,
    query_timeout: 0,
    lock_timeout: 0,
    idle_in_transaction_session_timeout: 0,
  });
  await dataSource.initialize();
  try {
    await dataSource.runMigrations();
  } finally {
    await dataSource.destroy();
  }
}

async function runTheQueues(url: string): Promise<void> {
  const pool = new SteadyPool({ connectionString: url, max: 1, application_name: 'darkroom:migrate' });
  try {
    await runMigrations({ pgPool: pool, logger: quietLogger, concurrency: 1 });
    await pool.query(LOOK_UP_KEYS);
  } finally {
    await pool.end();
  }
}
