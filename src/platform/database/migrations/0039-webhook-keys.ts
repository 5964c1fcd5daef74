import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex, isFound } from '../build-index.ts';

const EVENTS_OF_TASK = 'webhook_events_of_task';
const DELIVERIES_KEY = 'webhook_deliveries_new_key';

const HAS_KEY = `
  select from pg_constraint
  where conrelid = 'webhook_deliveries'::regclass and contype = 'p' and pg_get_constraintdef(oid) like '%(event_id,%'`;

/**
 * Keys that partitions by the id of the event can have: each begins with that id. That a task has one event follows from its end, which
 * is written once. Processes of the last release go on: what they call `on conflict` is unique as before.
 */
export class WebhookKeys1700000000039 implements MigrationInterface {
  /** Indexes are made while the service goes on. Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // The build waits for every open transaction, and nothing waits for the build but a process of the last release that starts now: it
    // waits for the migration in a statement, for which the build waits. So the build gives up in the end.
    await runner.query(`set lock_timeout = '30s'`);
    await buildIndex(runner, EVENTS_OF_TASK, `create index concurrently ${EVENTS_OF_TASK} on webhook_events (task_id)`);
    const hasKey = await isFound(runner, HAS_KEY);
    if (!hasKey) {
      await buildIndex(
        runner,
        DELIVERIES_KEY,
        `create unique index concurrently ${DELIVERIES_KEY} on webhook_deliveries (event_id, endpoint_id, attempt)`,
      );
    }
    await runner.query('reset lock_timeout');
    await runner.query('alter table webhook_events drop constraint if exists webhook_events_task_id_key');
    if (hasKey) return;
    await runner.query(`
      alter table webhook_deliveries
        drop constraint webhook_deliveries_pkey,
        drop constraint webhook_deliveries_event_id_endpoint_id_attempt_key,
        add constraint webhook_deliveries_pkey primary key using index ${DELIVERIES_KEY}`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
