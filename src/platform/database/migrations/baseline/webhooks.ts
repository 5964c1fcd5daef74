/**
 * Endpoints, events, dispatches and deliveries. A dispatch is one event for one endpoint: waiting while `due_at` is
 * set, in flight while `lease_until` is set, otherwise finished. A delivery is one attempt of a dispatch. Events,
 * dispatches and deliveries are in partitions by the time in the ids of the events.
 */
export const WEBHOOKS = [
  `create table webhook_endpoints (
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
    created_at timestamptz not null default now(),
    secret_key_id text
  )`,
  'create index webhook_endpoints_of_key on webhook_endpoints (api_key_id, id)',
  // The body is text, so that every attempt sends the same bytes. An event without a task is a test of an endpoint.
  `create table webhook_events (
    id text collate "C" not null,
    api_key_id text collate "C" not null,
    task_id text collate "C",
    type text not null,
    body text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    trace_parent text
  ) partition by range (id)`,
  'create index webhook_events_expiring on webhook_events (expires_at)',
  'create index webhook_events_of_task on webhook_events (task_id)',
  'alter table webhook_events add primary key (id)',
  `create table webhook_dispatches (
    event_id text collate "C" not null,
    endpoint_id text collate "C" not null references webhook_endpoints (id) on delete cascade,
    due_at timestamptz,
    lease_until timestamptz,
    attempt integer not null default 0,
    failures integer not null default 0,
    trigger text not null default 'scheduled' check (trigger in ('scheduled', 'manual', 'test')),
    delivered_at timestamptz,
    check (due_at is null or lease_until is null)
  ) partition by range (event_id)`,
  'create index webhook_dispatches_due on webhook_dispatches (endpoint_id, due_at) where due_at is not null',
  'create index webhook_dispatches_under_way on webhook_dispatches (endpoint_id, lease_until) where lease_until is not null',
  // Dispatches that were given up: undelivered, and neither waiting nor in flight. `recover` sends them again. A
  // dispatch that succeeds on its first attempt never enters this index.
  `create index webhook_dispatches_given_up on webhook_dispatches (endpoint_id, event_id)
   where delivered_at is null and due_at is null and lease_until is null`,
  'alter table webhook_dispatches add primary key (event_id, endpoint_id)',
  `create table webhook_deliveries (
    id text collate "C" not null,
    endpoint_id text collate "C" not null references webhook_endpoints (id) on delete cascade,
    event_id text collate "C" not null,
    event_type text not null,
    attempt integer not null,
    trigger text not null,
    attempted_at timestamptz not null,
    duration_ms integer,
    status_code integer,
    error text,
    response_snippet text,
    next_attempt_at timestamptz,
    url text,
    request_headers jsonb
  ) partition by range (event_id)`,
  'create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, id)',
  'alter table webhook_deliveries add primary key (event_id, endpoint_id, attempt)',
  `create table webhook_replays (
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
  )`,
  `create index webhook_replays_running on webhook_replays (id) where status = 'running'`,
];
