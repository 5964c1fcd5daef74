import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Drops the foreign key from dispatches to endpoints. With it, the deletion of an endpoint read the dispatches of all
 * endpoints, because no index has all dispatches of one endpoint. The statement that inserts dispatches locks their
 * endpoints instead.
 */
export class FreeDispatches1700000000066 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhook_dispatches drop constraint if exists webhook_dispatches_endpoint_id_fkey');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
