import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

/** Acts of operators are few among the stars and shares of all keys, which the screen of providers leaves out. */
export class OperatorActs1700000000063 implements MigrationInterface {
  /** The index is made while the service goes on. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndex(
      runner,
      'audit_events_of_operators',
      `create index concurrently audit_events_of_operators on audit_events (id) where target_type not in ('task', 'share')`,
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
