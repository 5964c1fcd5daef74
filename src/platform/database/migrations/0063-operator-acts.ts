import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

/**
 * Adds an index of the acts of operators, for the screen of providers. These acts are few. The acts on tasks and shares
 * are many, and neither the screen nor the index contains them.
 */
export class OperatorActs1700000000063 implements MigrationInterface {
  /** A concurrent index build cannot run in a transaction. */
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
