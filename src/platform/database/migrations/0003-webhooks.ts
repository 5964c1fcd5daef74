import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Endpoints, events, dispatches and deliveries. A dispatch is one event for one endpoint: waiting while `due_at` is set,
 * in flight while `lease_until` is set, otherwise finished. A delivery is one attempt of a dispatch.
 */
export class Webhooks1700000000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhook_endpoints (
        id text collate "C" primary key,
        api_key_id text collate "C" not null,
        url text not null,
        events text[] not null check (cardinality(events) > 0),
        description text not null,
        status text not null default 'enabled' check (status in ('enabled', 'disabled')),
        disabled_reason text check (disabled_reason in ('gone', 'failing')),
        secret bytea not null,
        secret_hint text not null,
        old_secret bytea,
        old_secret_until timestamptz,
        failing_since timestamptz,
        created_at timestamptz not null default now()
      )`);
    await runner.query('create index webhook_endpoints_of_key on webhook_endpoints (api_key_id, id)');

    // The body is text, so that every attempt sends the same bytes. An event without a task is a test of an endpoint.
    await runner.query(`
      create table webhook_events (
        id text collate "C" primary key,
        api_key_id text collate "C" not null,
        task_id text collate "C" unique,
        type text not null,
        body text not null,
        created_at timestamptz not null,
        expires_at timestamptz not null
      )`);
    await runner.query('create index webhook_events_expiring on webhook_events (expires_at)');

    await runner.query(`
      create table webhook_dispatches (
        event_id text collate "C" not null references webhook_events (id) on delete cascade,
        endpoint_id text collate "C" not null references webhook_endpoints (id) on delete cascade,
        due_at timestamptz,
        lease_until timestamptz,
        attempt integer not null default 0,
        failures integer not null default 0,
        trigger text not null default 'scheduled' check (trigger in ('scheduled', 'manual', 'test')),
        delivered_at timestamptz,
        primary key (event_id, endpoint_id),
        check (due_at is null or lease_until is null)
      ) with (fillfactor = 80)`);
    await runner.query(
      'create index webhook_dispatches_due on webhook_dispatches (endpoint_id, due_at) where due_at is not null',
    );
    await runner.query(
      'create index webhook_dispatches_under_way on webhook_dispatches (endpoint_id, lease_until) where lease_until is not null',
    );
    await runner.query(
      'create index webhook_dispatches_undelivered on webhook_dispatches (endpoint_id, event_id) where delivered_at is null',
    );

    await runner.query(`
      create table webhook_deliveries (
        id text collate "C" primary key,
        endpoint_id text collate "C" not null references webhook_endpoints (id) on delete cascade,
        event_id text collate "C" not null references webhook_events (id) on delete cascade,
        event_type text not null,
        attempt integer not null,
        trigger text not null,
        attempted_at timestamptz not null,
        duration_ms integer,
        status_code integer,
        error text,
        response_snippet text,
        next_attempt_at timestamptz,
        unique (event_id, endpoint_id, attempt)
      ) with (fillfactor = 80)`);
    await runner.query('create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, id)');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
