import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Log levels that an operator sets for all processes, and what each process has counted lately. Processes of the last
 * release know neither: they keep their levels, and count nothing for operators.
 */
export class OperatorLevels1700000000027 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table processes add column activity jsonb not null default '{}'`);
    await runner.query(`
      create table log_levels (
        id text primary key check (id = 'service'),
        log_level text,
        log_levels jsonb not null,
        changed_at timestamptz not null default now(),
        changed_by text
      )`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
