import { Client } from 'pg';
import { createDataSource } from './data-source.ts';

/** Any fixed number, known to nobody else in this database ("dark" in ASCII). */
const LOCK = 0x6461726b;

/**
 * Brings the database to the present. Processes may call it at the same time; one works, the others wait and find nothing
 * left to do.
 */
export async function migrate(url: string): Promise<void> {
  // Session locks end with their connection, so a killed migration blocks nobody.
  const holder = new Client({ connectionString: url, application_name: 'darkroom:migrate', keepAlive: true });
  holder.on('error', () => undefined);
  await holder.connect();
  try {
    await holder.query('select pg_advisory_lock($1)', [LOCK]);
    await runOurs(url);
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
