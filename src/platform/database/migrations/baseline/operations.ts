/** Tables of what operators see and set. */
export const OPERATIONS = [
  `create table processes (
    id text collate "C" primary key,
    role text not null check (role in ('all', 'api', 'worker')),
    version text not null,
    host text not null,
    started_at timestamptz not null,
    last_seen_at timestamptz not null,
    slots integer not null,
    busy integer not null,
    drain_requested boolean not null default false,
    draining boolean not null default false,
    lease_margin_s real,
    circuits jsonb not null default '[]',
    activity jsonb not null default '{}'
  ) with (fillfactor = 50)`,
  `create table pauses (
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
  )`,
  'create index pauses_open on pauses (id) where not released',
  'create table circuit_resets (endpoint text collate "C" primary key, reset_at timestamptz not null)',
  `create table log_levels (
    id text primary key check (id = 'service'),
    log_level text,
    log_levels jsonb not null,
    changed_at timestamptz not null default now(),
    changed_by text
  )`,
  // The restores of a backup after which webhooks were held back. Because of its row, a restore holds them back only
  // once.
  `create table restorations (
    restored_from timestamptz primary key,
    held integer not null default 0,
    created_at timestamptz not null default now()
  )`,
  `create table partitioned_tables (name text collate "C" primary key, dropped_below text collate "C" not null)`,
  // For each migration, the oldest program that may run after it.
  'alter table schema_migrations add column oldest_program text',
];
