import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How many requests of a key have been let through in its present minute. Two rows a key, used again for each window, so the
 * table grows with the keys and not with time. Unlogged: a count that lives a minute is not worth the wait for a disk at
 * each lease; a crash of the database empties it. Fill factor 20: rewritten in place, on the same page (HOT).
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
