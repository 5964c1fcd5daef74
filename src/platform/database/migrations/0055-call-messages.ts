import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the name of the MCP message that made a call. With this name the client can give up the call. Processes of the
 * previous release leave it null.
 */
export class CallMessages1700000000055 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table calls add column message text');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
