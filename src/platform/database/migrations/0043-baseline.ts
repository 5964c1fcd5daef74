import type { MigrationInterface, QueryRunner } from 'typeorm';
import { DAY_MS, idBoundAt } from '../../schema/time.ts';
import { sinceBaseline } from '../baseline-names.ts';
import { FILES_AND_USAGE } from './baseline/files-and-usage.ts';
import { KEYS } from './baseline/keys.ts';
import { OPERATIONS } from './baseline/operations.ts';
import { TASKS } from './baseline/tasks.ts';
import { WEBHOOKS } from './baseline/webhooks.ts';

/** The first partition takes ids up to this many days ahead. */
const FIRST_DAYS = 2;

const NOW = 'select floor(extract(epoch from now()) * 1000)::float8 as ms';

/** SQL of two partitions: `_first` takes the ids up to FIRST_DAYS from now, `_rest` all later ones. */
function partitionsOf(table: string, prefix: string, nowMs: number, options = ''): string[] {
  const bound = idBoundAt((Math.floor(nowMs / DAY_MS) + FIRST_DAYS) * DAY_MS, prefix);
  return [
    `create table ${table}_first partition of ${table} for values from (minvalue) to ('${bound}') ${options}`,
    `create table ${table}_rest partition of ${table} default ${options}`,
  ];
}

/**
 * Creates all tables in an empty database, as the 37 migrations up to 0043 created them. Does nothing in a database in
 * which those have run.
 */
export class Baseline1700000000043 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const done = ((await runner.query('select name from schema_migrations')) as { name: string }[] | undefined) ?? [];
    if (sinceBaseline(done.map(({ name }) => name)).length > 0) return;
    const rows = (await runner.query(NOW)) as [{ ms: number }] | undefined;
    const nowMs = rows?.[0].ms ?? 0;
    const filled = 'with (fillfactor = 80)';
    const statements = [
      ...KEYS,
      ...TASKS,
      ...partitionsOf('tasks', 'task', nowMs, filled),
      ...WEBHOOKS,
      ...partitionsOf('webhook_events', 'evt', nowMs),
      ...partitionsOf('webhook_dispatches', 'evt', nowMs, filled),
      ...partitionsOf('webhook_deliveries', 'evt', nowMs, filled),
      ...FILES_AND_USAGE,
      ...OPERATIONS,
    ];
    for (const statement of statements) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
