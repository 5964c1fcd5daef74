import type { Client } from 'pg';
import { VERSION } from '../config/version.ts';
import { MIGRATIONS } from './migrations.ts';

/** PostgreSQL's codes for a table and a column that do not exist. */
const UNDEFINED = ['42P01', '42703'];

/** The migrations that name an oldest program. */
const NAMED = MIGRATIONS.flatMap((migration) => {
  const { oldestProgram } = new migration();
  return oldestProgram === undefined ? [] : [{ name: migration.name, oldest: oldestProgram }];
});

const NOTE = `
  update schema_migrations m set oldest_program = n.oldest
  from json_to_recordset($1::json) as n(name text, oldest text)
  where m.name = n.name and m.oldest_program is distinct from n.oldest`;

/**
 * Records the oldest programs in the database. An older program does not know these migrations, so it reads from the
 * database whether it may run.
 */
export async function noteOldestPrograms(client: Pick<Client, 'query'>, named = NAMED): Promise<void> {
  if (named.length > 0) await client.query(NOTE, [JSON.stringify(named)]);
}

/** @throws Error for the operator if this program is too old for a migration */
export async function assertNotTooOld(client: Pick<Client, 'query'>): Promise<void> {
  const { rows } = await client
    .query<{ name: string; oldest: string }>(
      'select name, oldest_program as oldest from schema_migrations where oldest_program is not null',
    )
    .catch((error: { code?: string }) => {
      if (UNDEFINED.includes(error.code ?? '')) return { rows: [] };
      throw error;
    });
  const tooNew = rows.find(({ oldest }) => isOlder(VERSION, oldest));
  if (!tooNew) return;
  throw new Error(
    `The database needs Darkroom ${tooNew.oldest} or newer, since the migration ${tooNew.name}. This is ${VERSION}.`,
  );
}

/** Compares versions such as 1.2.10. */
const isOlder = (version: string, than: string): boolean => version.localeCompare(than, 'en', { numeric: true }) < 0;
