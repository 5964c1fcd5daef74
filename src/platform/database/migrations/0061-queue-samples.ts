import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the numbers of waiting, parked and running tasks, one row a minute. Processes of the previous release write no
 * rows.
 */
export class QueueSamples1700000000061 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create table queue_samples (
         minute timestamptz primary key,
         waiting integer not null,
         parked integer not null,
         running integer not null
       )`,
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
