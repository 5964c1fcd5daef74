import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

/**
 * Which key made a key. Null for keys of the command line, of a start, and of earlier releases: a process of the last
 * release goes on making keys without it.
 */
export class KeyMakers1700000000044 implements MigrationInterface {
  /** The index is built while the service goes on. Each step can be repeated. */
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
