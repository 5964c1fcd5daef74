import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The dispatches that `recover` selects: undelivered, and neither waiting nor in flight. A dispatch that succeeds on its
 * first attempt never enters this index. The former queue of deliveries (schema graphile_worker) stays, for processes of the
 * previous version.
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
