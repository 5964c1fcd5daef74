import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';
import { VIEW_WITH_STARS } from './two-tables/tables.ts';

/**
 * Adds columns for tasks that their owner keeps for good. A process of the previous release cannot keep a task, and
 * shows that the files of a kept task expire in the year 9999.
 */
export class KeptTasks1700000000059 implements MigrationInterface {
  /** Concurrent index builds cannot run in a transaction. Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Not in one transaction with the view: reads lock the view before the table. A transaction that locks the table
    // before the view could wait for a read while the read waits for the transaction.
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
