import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds shares: pages that show files to people without an API key. Processes of the previous release neither show nor
 * delete shares.
 */
export class Shares1700000000060 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table shares (
        id text collate "C" primary key,
        api_key_id text collate "C" not null,
        file_ids text[] not null,
        show_prompt boolean not null,
        created_at timestamptz not null default now(),
        expires_at timestamptz not null
      )`);
    await runner.query('create index shares_of_key on shares (api_key_id, id)');
    await runner.query('create index shares_expiring on shares (expires_at)');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
