import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What `recover` looks for, without what is still waiting or under way: a delivery that succeeds at once leaves nothing in
 * this index. The queue that deliveries had beside their rows (schema graphile_worker) is left where it is, for processes
 * of the version before.
 */
export class GivenUpDeliveries1700000000009 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index webhook_dispatches_given_up on webhook_dispatches (endpoint_id, event_id)
      where delivered_at is null and due_at is null and lease_until is null`);
    await runner.query('drop index webhook_dispatches_undelivered');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
