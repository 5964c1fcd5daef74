import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For each migration, the oldest program that may run on what it leaves. Programs of the last release do not read it. */
export class OldestProgram1700000000033 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table schema_migrations add column oldest_program text');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
