import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the dashboard shows besides: the request of a delivery, why usage failed, how long tasks of a model wait, which
 * browser an audited act came from. Processes of the last release write none of it: every column is nullable or has a
 * default.
 */
export class Dashboard1700000000029 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhook_deliveries add column url text, add column request_headers jsonb');
    await runner.query('alter table usage_ledger add column error_code text');
    await runner.query('alter table usage_sums add column error_code text');
    await runner.query(`alter table run_times add column wait_ms integer[] not null default '{}'`);
    await runner.query('alter table audit_events add column session_id text, add column user_agent text');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
