import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The record is the queue of generations: workers take the waiting tasks from it, and the lapsed ones. */
export class WaitingTasks1700000000008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column priority smallint not null default 0');
    await runner.query(`create index tasks_waiting on tasks (priority, id) where status = 'queued' and not parked`);
    await runner.query('drop index tasks_lapsing');
    await runner.query(`create index tasks_leased on tasks (lease_until) where lease_until is not null`);
    // Named by what no other index has: one of the states would offer itself wherever those are asked for.
    await runner.query('drop index tasks_due');
    await runner.query('create index tasks_due on tasks (deadline_at) where completed_at is null');
    // What only finished tasks have is indexed when they finish, so that it costs creations and claims nothing.
    await runner.query('drop index tasks_expiring');
    await runner.query(`create index tasks_expiring on tasks (expires_at) where status in ('succeeded', 'failed')`);
    await runner.query('drop index tasks_files_expiring');
    await runner.query(
      'create index tasks_files_expiring on tasks (files_expire_at) where files_expire_at is not null and not files_purged',
    );
    // Written in the order of time and never changed: ranges of pages are enough to find what has expired.
    await runner.query('drop index idempotency_keys_expiring');
    await runner.query(
      'create index idempotency_keys_expiring on idempotency_keys using brin (expires_at) with (autosummarize = on)',
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
