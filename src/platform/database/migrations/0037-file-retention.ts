import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How long the files of a task are kept, for a key with a time of its own. Null: as FILE_RETENTION_DAYS says. Processes
 * of the last release write none, and keep the files of the tasks that they end as configured.
 */
export class FileRetention1700000000037 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column file_retention_s double precision');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
