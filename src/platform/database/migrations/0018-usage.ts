import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What tasks used and cost. The ledger has one row a task, which outlives the task. `usage_sums` holds its rows summed
 * by quarter of an hour and by day. Processes of the last release write none of it: the new columns have defaults or
 * are nullable.
 */
export class Usage1700000000018 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tasks
        add column price json,
        add column submits integer not null default 0,
        add column lost_submits integer not null default 0,
        add column lost_micros bigint not null default 0,
        add column usage json`);

    await runner.query(`
      create table usage_ledger (
        task_id text collate "C" primary key,
        api_key_id text collate "C" not null,
        completed_at timestamptz not null,
        outcome text not null,
        kind text not null,
        model text not null,
        provider text,
        resolution text,
        source text not null,
        batch_id text,
        metadata jsonb,
        images integer not null,
        video_seconds integer not null,
        submits integer not null,
        cost_micros bigint not null,
        basis text not null,
        rolled_up boolean not null default false
      )`);
    // The few rows that no sum contains yet; and the rows of the partial quarters at the ends of a queried range. A row
    // enters the second index when it is rolled up, so the end of a task does not pay for it.
    await runner.query('create index usage_ledger_new on usage_ledger (completed_at) where not rolled_up');
    await runner.query(
      'create index usage_ledger_completed on usage_ledger (completed_at, api_key_id) where rolled_up',
    );

    // `dimensions` is a hash of the columns from model to metadata_value: together they can exceed what an index entry
    // holds.
    await runner.query(`
      create table usage_sums (
        api_key_id text collate "C" not null,
        span text not null check (span in ('quarter', 'day')),
        metadata_key text collate "C" not null default '',
        starts_at timestamptz not null,
        dimensions uuid not null,
        kind text not null,
        model text not null,
        provider text,
        resolution text,
        source text not null,
        batch_id text,
        metadata_value text,
        tasks bigint not null,
        succeeded bigint not null,
        failed bigint not null,
        cancelled bigint not null,
        images bigint not null,
        video_seconds bigint not null,
        submits bigint not null,
        cost_micros bigint not null,
        assumed_micros bigint not null,
        unpriced_tasks bigint not null,
        primary key (api_key_id, span, metadata_key, starts_at, dimensions)
      ) with (fillfactor = 80)`);
    // For queries over all keys. Of expressions, so that the planner never takes it for one key: it would read those of all.
    await runner.query(`create index usage_sums_by_time on usage_sums ((span || ''), (metadata_key || ''), starts_at)`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
