import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

/**
 * Adds a column for the key that created a key. It is null for keys that the command line, a start or an earlier
 * release created. A process of the previous release still creates keys without it.
 */
export class KeyMakers1700000000044 implements MigrationInterface {
  /** A concurrent index build cannot run in a transaction. Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table api_keys add column if not exists created_by text collate "C"');
    await buildIndex(
      runner,
      'api_keys_made_by',
      'create index concurrently api_keys_made_by on api_keys (created_by, id) where created_by is not null',
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
