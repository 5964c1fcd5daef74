/** Columns that both `tasks_live` and `tasks_done` have. */
const BOTH =
  `id, api_key_id, kind, model, model_version, status, progress, sequence, input, metadata, source, parent_task_id, relation, partial_images, batch_id,
  batch_index, custom_id, task_events, created_at, started_at, expires_at, request_approximations, request_id, trace_parent, low, budget_day,
  attempt, losses, worker_id, provider, provider_url, provider_model, credential, submitted_at, upstream_id, upstream_request_id,
  approximations, submits, lost_submits, timeline, deadline_at`.split(/,\s+/);

/**
 * Columns that only unfinished tasks have, each with what the view `tasks` shows in its place for a final task. The
 * type must be the same for both: otherwise PostgreSQL sorts all tasks to read one page.
 */
const OF_LIVE = {
  file_retention_s: 'null::double precision',
  reserved_micros: 'null::bigint',
  parked: 'false',
  paused_by: 'null::text',
  priority: 'null::smallint',
  lease_until: 'null::timestamptz',
  run_deadline_s: 'null::real',
  price: 'null::json',
  lost_micros: 'null::bigint',
};

/** Columns that only final tasks have, each with what the view `tasks` shows in its place for an unfinished task. */
const OF_DONE = {
  completed_at: 'null::timestamptz',
  usage: 'null::json',
  result: 'null::json',
  error: 'null::json',
  files_expire_at: 'null::timestamptz',
  files_purged: 'false',
  purge_after: 'null::timestamptz',
};

/** SQL: whether a row `t` of the old table is an unfinished task. */
export const UNFINISHED = `t.status in ('queued', 'running')`;

/** For each column of a new table, the SQL of its value, read from a row `t` of the old table. */
export function valuesOf(table: 'tasks_live' | 'tasks_done'): Record<string, string> {
  const columns = [...BOTH, ...Object.keys(table === 'tasks_live' ? OF_LIVE : OF_DONE)];
  const values = Object.fromEntries(columns.map((column) => [column, `t.${column}`]));
  return table === 'tasks_live' ? { ...values, waits: `t.status = 'queued' and not t.parked` } : values;
}

/**
 * `tasks_live` is the queue. Its rows are updated several times within seconds. So its pages have free space for the
 * new versions of rows (HOT), and it is vacuumed often. The CHECK on the status lets the planner skip a table when a
 * query asks only for statuses of the other table. See docs/decisions/0094-tasks-live-in-two-tables.md.
 */
export const TABLES = [
  `create table tasks_live (
    id text collate "C" not null,
    api_key_id text collate "C" not null,
    kind text not null,
    model text not null,
    model_version text,
    status text not null check (status in ('queued', 'running')),
    progress smallint not null default 0,
    sequence integer not null default 1,
    input json not null,
    metadata jsonb not null default '{}',
    source text not null default 'api',
    parent_task_id text collate "C",
    relation text,
    partial_images smallint not null default 0,
    batch_id text collate "C",
    batch_index integer,
    custom_id text,
    task_events boolean not null default true,
    created_at timestamptz not null,
    started_at timestamptz,
    expires_at timestamptz not null,
    file_retention_s double precision,
    request_approximations json,
    request_id text,
    trace_parent text,
    low boolean not null default false,
    budget_day date,
    reserved_micros bigint,
    waits boolean not null default true,
    parked boolean not null default false,
    paused_by text,
    priority smallint not null default 0,
    attempt integer not null default 0,
    losses smallint not null default 0,
    lease_until timestamptz,
    worker_id text,
    deadline_at timestamptz not null,
    run_deadline_s real,
    provider text,
    provider_url text,
    provider_model text,
    credential text,
    submitted_at timestamptz,
    upstream_id text,
    upstream_request_id text,
    approximations json,
    price json,
    submits integer not null default 0,
    lost_submits integer not null default 0,
    lost_micros bigint not null default 0,
    timeline jsonb
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
          autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000)`,
  `create table tasks_done (
    id text collate "C" not null,
    api_key_id text collate "C" not null,
    kind text not null,
    model text not null,
    model_version text,
    status text not null check (status in ('succeeded', 'failed')),
    progress smallint not null default 0,
    sequence integer not null default 1,
    input json not null,
    metadata jsonb not null default '{}',
    source text not null default 'api',
    parent_task_id text collate "C",
    relation text,
    partial_images smallint not null default 0,
    batch_id text collate "C",
    batch_index integer,
    custom_id text,
    task_events boolean not null default true,
    created_at timestamptz not null,
    started_at timestamptz,
    completed_at timestamptz not null,
    expires_at timestamptz not null,
    request_approximations json,
    request_id text,
    trace_parent text,
    low boolean not null default false,
    budget_day date,
    attempt integer not null default 0,
    losses smallint not null default 0,
    worker_id text,
    provider text,
    provider_url text,
    provider_model text,
    credential text,
    submitted_at timestamptz,
    upstream_id text,
    upstream_request_id text,
    approximations json,
    submits integer not null default 0,
    lost_submits integer not null default 0,
    timeline jsonb,
    deadline_at timestamptz not null,
    usage json,
    result json,
    error json,
    files_expire_at timestamptz,
    files_purged boolean not null default false,
    purge_after timestamptz
  )`,
  // The prompts of final tasks. They are not in `tasks_done`, because with an index of words the end of a task would
  // cost five times as much.
  'create table task_words (id text collate "C" not null, api_key_id text not null, prompt text not null)',
  'create table words_state (through timestamptz primary key)',
];

/**
 * Each partial index is made for certain statements. The column in its condition occurs only in these, so that no other
 * statement uses the index. The order matters: of two indexes that cost the same, as on an empty table, PostgreSQL
 * takes the newer one. So the primary key comes last, and the index for lists is near the end.
 */
export const LIVE_INDEXES = [
  'create index tasks_live_waiting on tasks_live (priority, id) where waits',
  'create index tasks_live_paused on tasks_live (paused_by, id) where paused_by is not null',
  'create index tasks_live_leased on tasks_live (lease_until) where lease_until is not null',
  'create index tasks_live_due on tasks_live (deadline_at)',
  'create index tasks_live_of_batch on tasks_live (batch_id, batch_index) where batch_id is not null',
  'create index tasks_live_of_key on tasks_live (api_key_id, id)',
  'create index tasks_live_held on tasks_live (api_key_id, low, id) where parked and paused_by is null',
  'alter table tasks_live add primary key (id)',
];

/**
 * The two indexes for the purge, `tasks_done_expiring` and `tasks_done_files`, are on an expression that only the
 * statements of the purge contain. So no other statement uses these indexes for a filter.
 */
export const DONE_INDEXES = [
  'create index tasks_done_ended on tasks_done (api_key_id, completed_at)',
  'create index tasks_done_facets on tasks_done (api_key_id, source, kind, model)',
  `create index tasks_done_errors on tasks_done (api_key_id, (error->>'code')) where status = 'failed'`,
  `create index tasks_done_failed on tasks_done (api_key_id, id) where status = 'failed'`,
  `create index tasks_done_expiring on tasks_done ((expires_at at time zone 'UTC'))`,
  `create index tasks_done_files on tasks_done ((files_expire_at at time zone 'UTC')) where not files_purged`,
  `create index tasks_done_metadata on tasks_done using gin (metadata jsonb_path_ops) where metadata <> '{}'`,
  'create index tasks_done_of_batch on tasks_done (batch_id, batch_index) where batch_id is not null',
  'create index tasks_done_of_parent on tasks_done (api_key_id, parent_task_id, id) where parent_task_id is not null',
  'create index tasks_done_completed on tasks_done using brin (completed_at) with (autosummarize = on)',
  'create index tasks_done_of_key on tasks_done (api_key_id, id)',
  'alter table tasks_done add primary key (id)',
];

export const WORDS = [
  'alter table task_words add primary key (id), add foreign key (id) references tasks_done (id) on delete cascade',
  `insert into words_state select coalesce(min(completed_at), now()) - interval '1 ms' from tasks_done`,
];

const named = (values: Record<string, string>): string[] =>
  Object.entries(values).map(([column, value]) => `${value} as ${column}`);

/**
 * The view of both tables. Neither `select` has a `where`: with one, PostgreSQL would sort all tasks to read one page.
 * @param ofLive columns that a final task lacks
 * @param ofDone columns that an unfinished task lacks
 */
const viewWith = (ofLive: Record<string, string>, ofDone: Record<string, string> = OF_DONE): string => `view tasks as
  select ${[...BOTH, ...Object.keys(ofLive), ...named(ofDone)].join(', ')} from tasks_live
  union all
  select ${[...BOTH, ...named(ofLive), ...Object.keys(ofDone)].join(', ')} from tasks_done`;

export const VIEW = `create ${viewWith(OF_LIVE)}`;

const { priority: _, ...OTHERS } = OF_LIVE;
const OF_LIVE_WITH_PLACES = { ...OTHERS, place: 'null::bigint' };
/** The view since migration 0051. */
export const VIEW_WITH_PLACES = `create ${viewWith(OF_LIVE_WITH_PLACES)}`;

const OF_DONE_WITH_STARS = { ...OF_DONE, kept_at: 'null::timestamptz', collection: 'null::text' };
/** The view since migration 0059. New columns come last, so that the view can be replaced while it is in use. */
export const VIEW_WITH_STARS = `create or replace ${viewWith(OF_LIVE_WITH_PLACES, OF_DONE_WITH_STARS)}`;
