import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What shows why a task waits and what became of it. Processes of the last release write none of it. */
export class Insight1700000000020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Null in tasks to which nothing has happened but what other columns tell: most of those that wait.
    await runner.query('alter table tasks add column timeline jsonb');
    // Partial, so that a task without a parent does not pay for it.
    await runner.query(
      'create index tasks_of_parent on tasks (api_key_id, parent_task_id, id) where parent_task_id is not null',
    );

    // Counted in memory by each process and added here every few seconds: starts and ends by model, the latter kept for
    // an hour, and how long the last successful runs took. Both stay small, so no other index is needed.
    await runner.query(`
      create table pace_samples (
        starts_at timestamptz not null,
        worker_id text collate "C" not null,
        model text not null,
        started integer not null,
        succeeded integer not null,
        failed integer not null,
        primary key (starts_at, worker_id, model)
      ) with (fillfactor = 80)`);
    await runner.query(`
      create table run_times (
        model text not null,
        resolution text not null,
        n integer not null,
        run_ms integer[] not null,
        primary key (model, resolution, n)
      ) with (fillfactor = 50)`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
