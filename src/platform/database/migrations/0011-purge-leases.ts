import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A worker that deletes the files of a task reserves it by this time; until then the other workers pass over it. */
export class PurgeLeases1700000000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table tasks add column purge_after timestamptz');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
