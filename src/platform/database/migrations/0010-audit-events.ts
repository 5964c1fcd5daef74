import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who changed what. No foreign keys, because an event outlives its actor and its target. */
export class AuditEvents1700000000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table audit_events (
        id text collate "C" primary key,
        created_at timestamptz not null default now(),
        action text not null,
        actor_type text not null,
        actor_id text collate "C",
        target_type text not null,
        target_id text collate "C" not null,
        ip text,
        request_id text,
        before jsonb,
        after jsonb
      )`);
    await runner.query('create index audit_events_of_target on audit_events (target_id, id)');
    await runner.query('create index audit_events_expiring on audit_events (created_at)');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
