import { MIGRATIONS } from './migrations.ts';
import { assertNotTooOld } from './oldest-program.ts';
import { Servers } from './servers/servers.ts';

/** PostgreSQL's code for a table that does not exist. */
const UNDEFINED_TABLE = '42P01';

/**
 * Checks the migrations, for a process that may not migrate. A database with more migrations than this program knows is
 * fine: migrations only add, so that the previous release runs beside the new one.
 * @throws Error for the operator if a migration of this program is missing, or this program is too old for the database
 */
export async function assertMigrated(url: string): Promise<void> {
  const done = await migrationsOf(url);
  const missing = MIGRATIONS.map(({ name }) => name).filter((name) => !done.has(name));
  if (missing.length === 0) return;
  throw new Error(
    `MIGRATE is off and the database lacks ${missing.length} of ${MIGRATIONS.length} migrations (the first is ${missing[0]}). ` +
      'Run this version once with MIGRATE=only, or `npx darkroom migrate`.',
  );
}

async function migrationsOf(url: string): Promise<Set<string>> {
  const client = await new Servers(url).connect({ application_name: 'darkroom:schema-check', keepAlive: true });
  try {
    await assertNotTooOld(client);
    const { rows } = await client.query<{ name: string }>('select name from schema_migrations');
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return new Set();
    throw error;
  } finally {
    await client.end();
  }
}
