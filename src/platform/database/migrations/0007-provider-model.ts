import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Two bindings may name the same provider and URL but different models. After a crash the task must go on with the
 * model it was submitted to.
 */
export class ProviderModel1700000000007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column provider_model text');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
