import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tasks table is the queue of generations: workers claim waiting tasks from it, and those whose lease has expired. */
export class WaitingTasks1700000000008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column priority smallint not null default 0');
    await runner.query(`create index tasks_waiting on tasks (priority, id) where status = 'queued' and not parked`);
    await runner.query('drop index tasks_lapsing');
    await runner.query(`create index tasks_leased on tasks (lease_until) where lease_until is not null`);
    // On a column that no other predicate names. An index on a status would match every query for that status.
    await runner.query('drop index tasks_due');
    await runner.query('create index tasks_due on tasks (deadline_at) where completed_at is null');
    // Columns that only finished tasks use are indexed when a task finishes, so that creates and claims do not pay for it.
    await runner.query('drop index tasks_expiring');
    await runner.query(`create index tasks_expiring on tasks (expires_at) where status in ('succeeded', 'failed')`);
    await runner.query('drop index tasks_files_expiring');
    await runner.query(
      'create index tasks_files_expiring on tasks (files_expire_at) where files_expire_at is not null and not files_purged',
    );
    // Rows are written in order of time and never change, so a BRIN index is enough to find the expired ones.
    await runner.query('drop index idempotency_keys_expiring');
    await runner.query(
      'create index idempotency_keys_expiring on idempotency_keys using brin (expires_at) with (autosummarize = on)',
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
