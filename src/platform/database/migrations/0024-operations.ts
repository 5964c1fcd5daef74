import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Pauses of models and providers, and replays of webhooks. Processes of the last release know neither: they wake tasks
 * that a pause has set aside, and start them.
 */
export class Operations1700000000024 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table pauses (
        id text collate "C" primary key,
        kind text not null check (kind in ('model', 'provider', 'place')),
        target text not null,
        place integer,
        models text[] not null,
        refuse_creates boolean not null default false,
        reason text not null,
        until timestamptz,
        created_at timestamptz not null default now(),
        created_by text,
        changed_at timestamptz not null default now(),
        ended_at timestamptz,
        released boolean not null default false
      )`);
    await runner.query('create index pauses_open on pauses (id) where not released');

    await runner.query(`
      create table circuit_resets (
        endpoint text collate "C" primary key,
        reset_at timestamptz not null
      )`);

    await runner.query('alter table tasks add column paused_by text');
    await runner.query(
      `create index tasks_paused on tasks (paused_by, id) where paused_by is not null and status = 'queued'`,
    );
    // What frees a place of a key must not read past its paused tasks. Written so that the index of all parked tasks, which
    // processes of the last release need, does not fit the same query.
    await runner.query(
      'create index tasks_held_by_limit on tasks (api_key_id, low, id) where parked::int = 1 and paused_by is null',
    );

    await runner.query(`
      create table webhook_replays (
        id text collate "C" primary key,
        since timestamptz not null,
        until timestamptz not null,
        endpoint_id text collate "C",
        api_key_id text collate "C",
        only_failed boolean not null,
        status text not null default 'running' check (status in ('running', 'completed', 'cancelled')),
        total integer not null,
        queued integer not null default 0,
        last_event_id text collate "C" not null,
        until_event_id text collate "C" not null,
        created_at timestamptz not null default now(),
        created_by text,
        ended_at timestamptz,
        lease_until timestamptz
      )`);
    await runner.query(`create index webhook_replays_running on webhook_replays (id) where status = 'running'`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
