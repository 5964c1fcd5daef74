import type { MigrationInterface, QueryRunner } from 'typeorm';
import { alone, isFound, together, untilStopped } from './two-tables/steps.ts';
import { DONE_INDEXES, LIVE_INDEXES, TABLES, UNFINISHED, valuesOf, VIEW, WORDS } from './two-tables/tables.ts';

const IS_TABLE = (name: string): string =>
  `select from pg_class where oid = to_regclass('${name}') and relkind in ('r', 'p')`;
/** Lists the partitions that have not been moved yet. */
const PARTS = `
  select inhrelid::regclass::text as name from pg_inherits where inhparent = to_regclass('tasks_before') order by 1`;

/**
 * Moves tasks out of one partitioned table into `tasks_live` and `tasks_done`. The service must be stopped. Each step
 * is one transaction. After an interruption, the next run continues with the next step. A partition is dropped in the
 * transaction that copies its rows, so the disk needs room for a copy of the largest partition.
 */
export class TwoTables1700000000049 implements MigrationInterface {
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await alone(runner, () => moveTasks(runner));
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}

async function moveTasks(runner: QueryRunner): Promise<void> {
  if (await isFound(runner, IS_TABLE('tasks'))) {
    await untilStopped(runner);
    await begin(runner);
  }
  for (const { name } of ((await runner.query(PARTS)) as { name: string }[] | undefined) ?? []) {
    await together(runner, [
      `insert into tasks_done (${Object.keys(valuesOf('tasks_done'))}) select ${Object.values(valuesOf('tasks_done'))} from ${name} t where not (${UNFINISHED})`,
      `-- squawk-ignore ban-drop-table\ndrop table ${name}`,
    ]);
  }
  if (await isFound(runner, IS_TABLE('tasks_before'))) await finish(runner);
}

/** Copies the unfinished tasks in the transaction that renames the table, because they are few. */
const begin = (runner: QueryRunner): Promise<void> =>
  together(runner, [
    '-- squawk-ignore renaming-table\nalter table tasks rename to tasks_before',
    ...TABLES,
    `insert into tasks_live (${Object.keys(valuesOf('tasks_live'))}) select ${Object.values(valuesOf('tasks_live'))} from tasks_before t where ${UNFINISHED}`,
  ]);

/**
 * Creates the indexes after the rows, which is much faster. The primary key of each table is created last: of two
 * indexes that cost the same, PostgreSQL takes the newer one.
 */
const finish = (runner: QueryRunner): Promise<void> =>
  together(runner, [
    '-- squawk-ignore ban-drop-table\ndrop table tasks_before',
    ...[...LIVE_INDEXES, ...DONE_INDEXES, ...WORDS].map(
      (text) =>
        `-- squawk-ignore require-concurrent-index-creation, adding-serial-primary-key-field, constraint-missing-not-valid, adding-foreign-key-constraint\n${text}`,
    ),
    VIEW,
    'analyze tasks_live',
    'analyze tasks_done',
  ]);
