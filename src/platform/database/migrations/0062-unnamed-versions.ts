import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

/**
 * Adds the time at which a process last had a version of a model loaded, and an index for the tasks that name a
 * version. A version is purged when no process loads it and no task names it.
 */
export class UnnamedVersions1700000000062 implements MigrationInterface {
  /** A concurrent index build cannot run in a transaction. Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table model_versions add column if not exists loaded_at timestamptz not null default now()',
    );
    await buildIndex(
      runner,
      'tasks_done_of_version',
      'create index concurrently tasks_done_of_version on tasks_done (model, model_version) where model_version is not null',
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
