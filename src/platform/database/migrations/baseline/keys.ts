/** API keys and what belongs to one: secrets, sessions, rates, audit events, erasures. */
export const KEYS = [
  `create table api_keys (
    id text collate "C" primary key,
    name text not null,
    hint text not null,
    scopes text[] not null,
    limits jsonb not null default '{}',
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
  )`,
  // The hash is the primary key, so authentication is one index probe, for valid and unknown keys alike.
  `create table api_key_secrets (
    hash bytea primary key check (length(hash) = 32),
    api_key_id text collate "C" not null references api_keys (id) on delete cascade,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    secret_key_id text
  )`,
  // At most one current secret per key, even when two rotations race.
  `create unique index api_key_secrets_current on api_key_secrets (api_key_id) where expires_at is null`,
  `create index api_key_secrets_api_key on api_key_secrets (api_key_id)`,
  // The keys of SECRET_KEY that have been the newest of a process. In other tables `secret_key_id` names the key that a
  // row needs. It is null if a process of an earlier release wrote the row.
  `create table secret_keys (id text collate "C" primary key, newest_at timestamptz not null)`,
  // Browser sessions, and the links that open one. Both belong to a secret of an API key, and end with it. When the
  // secret gets a new hash, `on update cascade` passes it on to them.
  `create table sessions (
    id text collate "C" primary key,
    token_hash bytea not null unique check (length(token_hash) = 32),
    secret_hash bytea not null references api_key_secrets (hash) on delete cascade on update cascade,
    api_key_id text collate "C" not null references api_keys (id) on delete cascade,
    user_agent text not null,
    idle_s integer not null,
    created_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    expires_at timestamptz not null
  )`,
  'create index sessions_api_key on sessions (api_key_id, last_seen_at)',
  'create index sessions_secret on sessions (secret_hash)',
  'create index sessions_expires on sessions (expires_at)',
  `create table one_time_codes (
    hash bytea primary key check (length(hash) = 32),
    secret_hash bytea not null references api_key_secrets (hash) on delete cascade on update cascade,
    expires_at timestamptz not null
  )`,
  'create index one_time_codes_secret on one_time_codes (secret_hash)',
  // The points of a key's two rate limits that processes have leased in the current minute. The two rows of a key are
  // reused for every minute, so the table grows with the number of keys and not with time. The table is unlogged,
  // because a count that lives for a minute does not justify a disk sync at each lease. A crash of the database empties
  // it. Fill factor 20 leaves room for updates on the same page (HOT).
  `create unlogged table rate_windows (
    api_key_id text collate "C" not null,
    bucket text collate "C" not null,
    ends_at timestamptz not null,
    taken bigint not null,
    primary key (api_key_id, bucket)
  ) with (fillfactor = 20)`,
  // Only a key that has or had a budget has a row.
  `create table key_budgets (
    api_key_id text collate "C" primary key,
    amount_micros bigint,
    period text check (period in ('day', 'month', 'total')),
    soft_percent smallint,
    day date not null,
    day_spent bigint not null default 0,
    day_reserved bigint not null default 0,
    month_spent bigint not null default 0,
    month_reserved bigint not null default 0,
    total_spent bigint not null default 0,
    total_reserved bigint not null default 0,
    threshold_of date,
    exceeded_of date
  ) with (fillfactor = 50)`,
  // Who changed what. No foreign keys, because an event outlives its actor and its target.
  `create table audit_events (
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
    after jsonb,
    session_id text,
    user_agent text
  )`,
  'create index audit_events_of_target on audit_events (target_id, id)',
  'create index audit_events_expiring on audit_events (created_at)',
  // The erasures of the data of keys: at most one for each key.
  `create table erasures (
    id text collate "C" primary key,
    api_key_id text collate "C" not null unique,
    counts jsonb not null default '{}',
    step text,
    cursor text collate "C",
    created_at timestamptz not null default now(),
    created_by text collate "C",
    finished_at timestamptz,
    attempt integer not null default 0,
    lease_until timestamptz
  )`,
  'create index erasures_unfinished on erasures (id) where finished_at is null',
];
