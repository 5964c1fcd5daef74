import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';
import { VIEW_WITH_STARS } from './two-tables/tables.ts';

/** Tasks that their owner keeps. A process of the last release keeps none, and finds that the files of those expire in the year 9999. */
export class KeptTasks1700000000059 implements MigrationInterface {
  /** The indexes are made while the service goes on. Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Apart from the view, which reads lock before the table: in one transaction the two would wait for each other.
    await runner.query(
      `alter table tasks_done
         add column if not exists kept_at timestamptz,
         add column if not exists collection text,
         add column if not exists unkept_expires_at timestamptz,
         add column if not exists unkept_files_expire_at timestamptz,
         add column if not exists output_expires_at timestamptz`,
    );
    await runner.query(VIEW_WITH_STARS);
    await buildIndex(
      runner,
      'tasks_done_kept',
      'create index concurrently tasks_done_kept on tasks_done (api_key_id, id) where kept_at is not null',
    );
    await buildIndex(
      runner,
      'tasks_done_outputs',
      `create index concurrently tasks_done_outputs on tasks_done (output_expires_at) where output_expires_at is not null`,
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
