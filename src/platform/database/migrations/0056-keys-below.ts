import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the tasks of a key count for beside the key itself. A process of the last release writes none of it: what it creates counts for
 * its own key only, and what it ends stays reserved above it until that budget is set again.
 */
export class KeysBelow1700000000056 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`set local lock_timeout = '30s'`);
    await runner.query('alter table tasks_live add column counts_for text[]');
    await runner.query('alter table tasks_done add column counts_for text[]');
    await runner.query(
      `alter table key_load add column below_queued integer not null default 0, add column below_running integer not null default 0,
         add column shared_queued integer not null default 0, add column shared_running integer not null default 0,
         add column above text[]`,
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
