import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the list of the metadata values that have usage sums of their own: at most 1,000 a day for each name in the
 * metadata of an API key. All other values have one sum together. Processes of the previous release do not know the
 * table, so they make a sum for every value.
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
