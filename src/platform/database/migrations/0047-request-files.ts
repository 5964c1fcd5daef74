import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the bytes of the pictures that came inside requests, and their sum for each API key. Processes of the previous
 * release do not update the sum: it lacks the pictures that they store, and still contains those that they delete.
 */
export class RequestFiles1700000000047 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table upload_blobs add column request_bytes integer');
    await runner.query(`
      create table request_file_sums (
        api_key_id text collate "C" primary key,
        bytes bigint not null
      )`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
