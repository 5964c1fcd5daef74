import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

/** Creations sum the invalid items of a key. Few of its batches have any. */
export class InvalidItems1700000000064 implements MigrationInterface {
  /** The index is made while the service goes on. */
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
