import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QueryRunner } from 'typeorm';
import { MIGRATIONS } from '../src/platform/database/migrations.ts';

/**
 * Lints the SQL of migrations with squawk. It finds locks that stop the service, and changes that break the previous
 * release.
 *
 *   node scripts/lint-migrations.ts [name of a migration …]
 */

/** The number of the first migration that is linted. Earlier ones are already in the databases of users. */
const SINCE = 44;
/** The name of a migration ends with this number plus its own. */
const NUMBERED_FROM = 1_700_000_000_000;

/** Rules that migrate.ts makes unnecessary, or that are a matter of taste. */
const EXCLUDED = [
  'prefer-robust-stmts', // each migration is one transaction, which also records that it is done
  'require-timeout-settings', // the connection has a lock timeout
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
];
/** The oldest PostgreSQL on which the service runs. */
const POSTGRES = '14';

type Made = InstanceType<(typeof MIGRATIONS)[number]> & { transaction?: boolean };

const numberOf = (name: string): number => Number(/\d+$/.exec(name)?.[0]) - NUMBERED_FROM;

/**
 * The SQL that the migration sends. Its queries return no rows here, so a migration that depends on rows must work
 * without them.
 */
async function sqlOf(migration: Made): Promise<string> {
  const sent: string[] = [];
  const runner = { query: async (text: string) => void sent.push(text) } as unknown as QueryRunner;
  await migration.up(runner);
  const statements = sent.map((text) => `${text.trim().replace(/;$/, '')};\n`).join('');
  return migration.transaction === false ? statements : `begin;\n${statements}commit;\n`;
}

const SQUAWK = join(import.meta.dirname, '../node_modules/.bin/squawk');

const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
try {
  const wanted = process.argv.slice(2);
  const linted = MIGRATIONS.filter(({ name }) => (wanted.length > 0 ? wanted.includes(name) : numberOf(name) >= SINCE));
  const unknown = wanted.filter((name) => !linted.some((migration) => migration.name === name));
  if (unknown.length > 0) throw new Error(`There is no migration ${unknown.join(', ')}.`);
  for (const Migration of linted) writeFileSync(join(folder, `${Migration.name}.sql`), await sqlOf(new Migration()));
  const files = linted.map(({ name }) => `${name}.sql`);
  const flags = ['--reporter', 'gcc', '--pg-version', POSTGRES, '--exclude', EXCLUDED.join()];
  const { status, error } = spawnSync(SQUAWK, [...flags, ...files], { cwd: folder, stdio: 'inherit' });
  if (error) throw error;
  if (status === 0) process.stdout.write(`The SQL of ${files.length} migrations has no fault.\n`);
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
