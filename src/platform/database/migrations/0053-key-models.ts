import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The models that a key may use. Null, as for all keys so far: every open one. */
export class KeyModels1700000000053 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`set local lock_timeout = '30s'`);
    await runner.query('alter table api_keys add column models text[]');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
