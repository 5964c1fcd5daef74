import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

/**
 * Adds an index for the sum of the invalid items of a key. The creation of a batch reads this sum. Few batches have
 * invalid items.
 */
export class InvalidItems1700000000064 implements MigrationInterface {
  /** A concurrent index build cannot run in a transaction. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndex(
      runner,
      'batches_with_invalid_items',
      'create index concurrently batches_with_invalid_items on batches (api_key_id) include (invalid_items) where invalid_items > 0',
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
