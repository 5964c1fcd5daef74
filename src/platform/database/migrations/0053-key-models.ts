import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the models that a key may use. Null, which all existing keys get, means every model whose `access` is `open`.
 */
export class KeyModels1700000000053 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`set local lock_timeout = '30s'`);
    await runner.query('alter table api_keys add column models text[]');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
