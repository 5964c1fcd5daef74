import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The span that created a task, so that its runs and its webhooks continue that trace in whichever process they happen. */
export class TraceParents1700000000026 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column trace_parent text');
    await runner.query('alter table webhook_events add column trace_parent text');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
