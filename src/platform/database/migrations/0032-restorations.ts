import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The restores after which webhooks were held, so that each is treated once. Processes of the last release do not read
 * it.
 */
export class Restorations1700000000032 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table restorations (
        restored_from timestamptz primary key,
        held integer not null default 0,
        created_at timestamptz not null default now()
      )`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
