import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Calls that answer with a result of the queue, so that a client's retry finds the task of its first attempt; and what an
 * interface had to approximate. Processes of the last release insert tasks without the new column.
 */
export class Calls1700000000015 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table calls (
        id text collate "C" primary key,
        api_key_id text collate "C" not null,
        path text not null,
        fingerprint bytea not null,
        task_id text,
        created_at timestamptz not null default now(),
        hung_up_at timestamptz,
        delivered_at timestamptz,
        joined_until timestamptz,
        joined_retry integer not null default 0
      )`);
    await runner.query(
      'create index calls_undelivered on calls (api_key_id, fingerprint, id) where delivered_at is null',
    );
    await runner.query('create index calls_created on calls (created_at)');
    await runner.query('alter table tasks add column request_approximations json');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
