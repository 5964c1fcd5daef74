import type { MigrationInterface, QueryRunner } from 'typeorm';
import { partitionTables } from '../partitions/partition-tables.ts';

/**
 * Events of webhooks in partitions by their ids, and with them what belongs to an event. No foreign key leads to the events any more,
 * because a partition that is referred to cannot be dropped. When a process of the last release deletes an expired event, what belongs to it stays
 * until its partition is dropped.
 */
export class WebhookPartitions1700000000040 implements MigrationInterface {
  /** Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const tables = [
      { name: 'webhook_events', key: 'id' },
      { name: 'webhook_dispatches', key: 'event_id' },
      { name: 'webhook_deliveries', key: 'event_id' },
    ] as const;
    await partitionTables(runner, { prefix: 'evt', tables });
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
