import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One row: the text that the service stores beside its files, so that it recognises its storage at the next start. */
export class StorageMarker1700000000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table storage_marker (
        id text primary key,
        written_at timestamptz
      )`);
    await runner.query('insert into storage_marker (id) values (gen_random_uuid()::text)');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
