import type { MigrationInterface, QueryRunner } from 'typeorm';
import { untilStopped } from './two-tables/steps.ts';

/**
 * Adds to each task the ids of the keys above its key: the task counts in the limits of these keys too. The service
 * must be stopped: if an older program ended such a task, these keys would count it for ever.
 */
export class KeysBelow1700000000056 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await untilStopped(runner);
    await runner.query(`set local lock_timeout = '30s'`);
    await runner.query('alter table tasks_live add column counts_for text[]');
    await runner.query('alter table tasks_done add column counts_for text[]');
    await runner.query(
      `alter table key_load add column below_queued integer not null default 0, add column below_running integer not null default 0,
         add column shared_queued integer not null default 0, add column shared_running integer not null default 0,
         add column above text[]`,
    );
    await runner.query(
      `update key_load l
       set shared_running = coalesce((k.limits->>'max_running')::int, 0), shared_queued = coalesce((k.limits->>'max_queued')::int, 0)
       from api_keys k where k.id = l.api_key_id and k.limits ?| array['max_running', 'max_queued']`,
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
