import type { MigrationInterface, QueryRunner } from 'typeorm';
import { alone, isFound, together } from './two-tables/steps.ts';

interface Table {
  name: string;
  options: string;
  /**
   * Statements that create the indexes. The primary key comes last: of two indexes that cost the same, PostgreSQL takes
   * the newer one.
   */
  keys: string[];
}

const OF_ENDPOINT = 'foreign key (endpoint_id) references webhook_endpoints (id) on delete cascade';

const TABLES: Table[] = [
  {
    name: 'webhook_events',
    options: '',
    keys: [
      `create index webhook_events_expiring on webhook_events ((expires_at at time zone 'UTC'))`,
      'create index webhook_events_of_task on webhook_events (task_id)',
      'alter table webhook_events add primary key (id)',
    ],
  },
  {
    name: 'webhook_dispatches',
    options: 'with (fillfactor = 80)',
    keys: [
      'create index webhook_dispatches_due on webhook_dispatches (endpoint_id, due_at) where due_at is not null',
      'create index webhook_dispatches_under_way on webhook_dispatches (endpoint_id, lease_until) where lease_until is not null',
      `create index webhook_dispatches_given_up on webhook_dispatches (endpoint_id, event_id)
       where delivered_at is null and due_at is null and lease_until is null`,
      `alter table webhook_dispatches add primary key (event_id, endpoint_id), add ${OF_ENDPOINT}`,
    ],
  },
  {
    name: 'webhook_deliveries',
    options: 'with (fillfactor = 80)',
    keys: [
      'create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, id)',
      `alter table webhook_deliveries add primary key (event_id, endpoint_id, attempt), add ${OF_ENDPOINT}`,
    ],
  },
];

/**
 * Moves the tables of webhooks out of partitions, as 0049 does with tasks. Each step is one transaction. After an
 * interruption, the next run continues with the next step.
 */
export class PlainWebhooks1700000000050 implements MigrationInterface {
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await alone(runner, async () => {
      for (const table of TABLES) await makePlain(runner, table);
      await runner.query('-- squawk-ignore ban-drop-table\ndrop table if exists partitioned_tables');
    });
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}

async function makePlain(runner: QueryRunner, { name, options, keys }: Table): Promise<void> {
  const before = `${name}_before`;
  if (await isFound(runner, `select from pg_class where oid = '${name}'::regclass and relkind = 'p'`)) {
    await together(runner, [
      `-- squawk-ignore renaming-table\nalter table ${name} rename to ${before}`,
      `create table ${name} (like ${before} including defaults including constraints) ${options}`,
    ]);
  }
  const [found] = ((await runner.query(
    `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
     where attrelid = '${name}'::regclass and attnum > 0 and not attisdropped`,
  )) as [{ columns: string }] | undefined) ?? [{ columns: '' }];
  const { columns } = found;
  const parts = await runner.query(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = to_regclass('${before}') order by 1`,
  );
  for (const part of (parts as { name: string }[] | undefined) ?? []) {
    await together(runner, [
      `insert into ${name} (${columns}) select ${columns} from ${part.name}`,
      `-- squawk-ignore ban-drop-table\ndrop table ${part.name}`,
    ]);
  }
  if (await isFound(runner, `select from pg_class where oid = to_regclass('${before}')`)) {
    await together(runner, [
      `-- squawk-ignore ban-drop-table\ndrop table ${before}`,
      ...keys.map(
        (text) =>
          `-- squawk-ignore require-concurrent-index-creation, adding-serial-primary-key-field, constraint-missing-not-valid, adding-foreign-key-constraint\n${text}`,
      ),
      `analyze ${name}`,
    ]);
  }
}
