import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

/** When a process had a version loaded last, and which tasks name one: what neither loads nor names any more is purged. */
export class UnnamedVersions1700000000062 implements MigrationInterface {
  /** The index is made while the service goes on. Each step can be repeated. */
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
