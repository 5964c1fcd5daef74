import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

/**
 * Adds the bytes that clients may still upload through links to the bucket: such links cannot be revoked. Processes of
 * the previous release leave the column null. The bytes of their uploads count only while an upload is pending, as
 * before.
 */
export class AnnouncedBytes1700000000046 implements MigrationInterface {
  /** A concurrent index build cannot run in a transaction. Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table upload_blobs add column if not exists announced_bytes integer');
    await buildIndex(
      runner,
      'upload_blobs_announced',
      'create index concurrently upload_blobs_announced on upload_blobs (api_key_id) where announced_bytes is not null',
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
