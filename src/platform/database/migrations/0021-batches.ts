import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Batches of tasks. Processes of the last release insert tasks without the new columns, and purge tasks without
 * counting them in their batch, which only matters for a batch that is unfinished when its records expire.
 */
export class Batches1700000000021 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tasks
        add column batch_id text collate "C",
        add column batch_index integer,
        add column custom_id text,
        add column task_events boolean not null default true`);
    await runner.query('create index tasks_of_batch on tasks (batch_id, batch_index) where batch_id is not null');
    await runner.query(`
      create table batches (
        id text collate "C" primary key,
        api_key_id text collate "C" not null,
        endpoint text not null,
        status text not null default 'in_progress',
        input_file_id text,
        metadata jsonb not null,
        total integer not null,
        succeeded integer not null default 0,
        failed integer not null default 0,
        cancelled integer not null default 0,
        invalid_items integer not null default 0,
        invalid json,
        errors json,
        request_id text,
        created_at timestamptz not null,
        cancelling_at timestamptz,
        ended_at timestamptz,
        kept_until timestamptz not null
      )`);
    await runner.query('create index batches_of_key on batches (api_key_id, id)');
    await runner.query('create index batches_unfinished on batches (id) where ended_at is null');
    await runner.query('create index batches_expiring on batches (kept_until)');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
