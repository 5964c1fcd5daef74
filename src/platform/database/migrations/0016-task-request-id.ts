import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The request that created the task, so that the log lines of its run carry the same id. Null in older tasks. */
export class TaskRequestId1700000000016 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column request_id text');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
