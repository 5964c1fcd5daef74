import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Two bindings may stand at one place and ask for different models: after a crash the one that was asked has to go on. */
export class ProviderModel1700000000007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column provider_model text');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
