import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { withExclusiveFile } from '../../src/platform/database/embedded/exclusive-file.ts';
import { TEST_FOLDER } from './test-context.ts';

export interface TestDatabase {
  url: string;
  /** Removes the database, and closes the connections to it that are still open. */
  drop(): Promise<void>;
}

const TEMPLATE = 'darkroom_template';

/** A new migrated database. It is a copy of a template, which is migrated once in each test run. */
export const cloneDatabase = (): Promise<TestDatabase> => createDatabase(`template ${TEMPLATE}`);

/** A new database without any table. */
export const emptyDatabase = (): Promise<TestDatabase> => createDatabase('');

async function createDatabase(from: string): Promise<TestDatabase> {
  const server = await testServer();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(server, `create database ${name} ${from}`);
  return { url: inDatabase(server, name), drop: () => drop(server, name) };
}

/**
 * Drops the database without "with (force)", because PostgreSQL refuses that to a role that is not a superuser while an
 * autovacuum runs. A plain drop ends the autovacuum, and waits five seconds for connections to close. A service that
 * still runs would connect again, so connections are forbidden first.
 */
async function drop(server: string, name: string): Promise<void> {
  if ((await execute(server, `select 1 from pg_database where datname = '${name}'`)) === 0) return;
  await execute(server, `alter database ${name} allow_connections false`);
  await execute(
    server,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
  );
  await execute(server, `drop database if exists ${name}`);
}

/** The connection string of the run's only server. The first caller starts the server and builds the template. */
async function testServer(): Promise<string> {
  const folder = process.env[TEST_FOLDER];
  if (!folder) throw new Error('jest.config.js must name test/support/global-setup.ts as its globalSetup.');
  const urlFile = join(folder, 'url');
  if (existsSync(urlFile)) return readFileSync(urlFile, 'utf8');
  return withExclusiveFile(join(folder, 'template.lock'), 120_000, async () => {
    if (existsSync(urlFile)) return readFileSync(urlFile, 'utf8');
    // Imported here, so that only the test file that comes first loads the driver and all migrations: that takes half a
    // second of processor time.
    const [{ startEmbeddedPostgres }, { migrate }] = await Promise.all([
      import('../../src/platform/database/embedded/embedded-postgres.ts'),
      import('../../src/platform/database/migrate.ts'),
    ]);
    const url =
      process.env.DARKROOM_TEST_SERVER ?? (await startEmbeddedPostgres(join(folder, 'data'), { fsync: false })).url;
    await drop(url, TEMPLATE);
    await execute(url, `create database ${TEMPLATE}`);
    await migrate(inDatabase(url, TEMPLATE));
    writeFileSync(urlFile, url, { mode: 0o600 });
    return url;
  });
}

function inDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** @returns how many rows the statement returned or changed */
async function execute(url: string, statement: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}
