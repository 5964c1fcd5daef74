import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How many requests of a key were admitted in its current minute. Two rows per key are reused for every window, so the table
 * grows with the number of keys and not with time. Unlogged, because a count that lives for a minute does not justify a disk
 * sync at each lease; a crash of the database empties the table. Fill factor 20 leaves room for updates on the same page
 * (HOT).
 */
export class RateWindows1700000000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create unlogged table rate_windows (
        api_key_id text collate "C" not null,
        bucket text collate "C" not null,
        ends_at timestamptz not null,
        taken bigint not null,
        primary key (api_key_id, bucket)
      ) with (fillfactor = 20)`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
