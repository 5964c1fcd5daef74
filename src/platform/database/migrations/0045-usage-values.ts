import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which values of metadata have sums of their own: at most 1,000 a day of each pair name of a key, the others are
 * summed together. Processes of the last release do not know the table and go on without the bound.
 */
export class UsageValues1700000000045 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // A hash, because a name and a value together can exceed what an index entry holds.
    await runner.query(`
      create table usage_values (
        day date not null,
        api_key_id text collate "C" not null,
        metadata_key text collate "C" not null,
        value_hash uuid not null,
        primary key (day, api_key_id, metadata_key, value_hash)
      )`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
