import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which message of its client a call is, so that the client can give it up. Processes of the last release write none. */
export class CallMessages1700000000055 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table calls add column message text');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
