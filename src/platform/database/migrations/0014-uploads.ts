import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Files that clients upload. `upload_blobs` is what is stored: the bytes of one key and hash once. `uploads` are the
 * ids that clients see, of which several may share a blob. See docs/decisions/0026-uploads-share-their-bytes.md.
 */
export class Uploads1700000000014 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table upload_blobs (
        id text collate "C" primary key,
        api_key_id text collate "C" not null,
        sha256 text collate "C",
        used_at timestamptz not null default now(),
        released_at timestamptz,
        doomed_at timestamptz,
        purge_after timestamptz
      )`);
    await runner.query(
      'create unique index upload_blobs_in_use on upload_blobs (api_key_id, sha256) where doomed_at is null',
    );
    await runner.query('create index upload_blobs_doomed on upload_blobs (doomed_at) where doomed_at is not null');
    await runner.query(
      'create index upload_blobs_released on upload_blobs (released_at) where released_at is not null',
    );
    await runner.query(`
      create table uploads (
        id text collate "C" primary key,
        api_key_id text collate "C" not null,
        purpose text not null,
        status text not null,
        filename text not null,
        content_type text not null,
        bytes integer not null,
        sha256 text collate "C",
        declared_sha256 text collate "C",
        width integer,
        height integer,
        blob_id text collate "C" references upload_blobs (id),
        lifetime_s integer not null,
        created_at timestamptz not null default now(),
        expires_at timestamptz not null,
        needed_until timestamptz,
        deleted_at timestamptz,
        of_task boolean not null default false,
        task_id text collate "C"
      )`);
    await runner.query('create index uploads_of_key on uploads (api_key_id, id)');
    await runner.query('create index uploads_of_blob on uploads (blob_id)');
    await runner.query('create index uploads_expiring on uploads (expires_at)');
    await runner.query('create index uploads_deleted on uploads (deleted_at) where deleted_at is not null');
    await runner.query('create index uploads_of_task on uploads (task_id) where task_id is not null');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
