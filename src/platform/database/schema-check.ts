import { MIGRATIONS } from './migrations.ts';
import { assertNotTooOld } from './oldest-program.ts';
import { Servers } from './servers/servers.ts';

/** PostgreSQL's code for a table that does not exist. */
const UNDEFINED_TABLE = '42P01';

/**
 * Checks that all migrations of this program have run, for a process that may not migrate. Migrations of a newer
 * release are allowed: most of them only add, so that the previous release runs beside the new one.
 * @throws Error for the operator if a migration of this program is missing, or a newer migration excludes this program
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
