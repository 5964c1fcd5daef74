import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex, dropIndex } from '../build-index.ts';

/**
 * Adds the time until which an equal call gets the failure of an earlier call. Processes of the previous release leave
 * it null.
 */
export class FailedCalls1700000000054 implements MigrationInterface {
  /** A concurrent index build cannot run in a transaction. Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table calls add column if not exists failed_until timestamptz');
    await buildIndex(
      runner,
      'calls_joinable',
      `create index concurrently calls_joinable on calls (api_key_id, fingerprint, id)
       where delivered_at is null or failed_until is not null`,
    );
    await dropIndex(runner, 'calls_undelivered');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
