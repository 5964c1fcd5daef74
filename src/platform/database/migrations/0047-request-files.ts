import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the pictures take that came inside requests. Processes of the last release count none: what they store counts
 * for nothing, and of what they delete the count stays.
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
