import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the declarations of models as they were when tasks were created. A declaration stays as long as a task names it.
 * Earlier tasks have no version.
 */
export class ModelVersions1700000000048 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table model_versions (
        id text not null,
        version text not null,
        document json not null,
        created_at timestamptz not null default now(),
        primary key (id, version)
      )`);
    await runner.query('alter table tasks add column model_version text');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
