import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The partial index counts the tasks that a provider works on: few rows, however large the table is. */
export class ProviderPlaces1700000000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column provider_url text');
    await runner.query(
      `create index tasks_at_provider on tasks (provider) where status = 'running' and submitted_at is not null`,
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
