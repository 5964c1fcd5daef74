/** Tables of uploads, and of what tasks used and cost. */
export const FILES_AND_USAGE = [
  // One row: the text that the service stores beside its files, so that it recognises its storage at the next start.
  'create table storage_marker (id text primary key, written_at timestamptz)',
  'insert into storage_marker (id) values (gen_random_uuid()::text)',
  // One row per stored file. Equal bytes of one API key are stored once. See
  // docs/decisions/0026-uploads-share-their-bytes.md.
  `create table upload_blobs (
    id text collate "C" primary key,
    api_key_id text collate "C" not null,
    sha256 text collate "C",
    used_at timestamptz not null default now(),
    released_at timestamptz,
    doomed_at timestamptz,
    purge_after timestamptz
  )`,
  'create unique index upload_blobs_in_use on upload_blobs (api_key_id, sha256) where doomed_at is null',
  'create index upload_blobs_doomed on upload_blobs (doomed_at) where doomed_at is not null',
  'create index upload_blobs_released on upload_blobs (released_at) where released_at is not null',
  // The ids that clients see, of which several may share a blob.
  `create table uploads (
    id text collate "C" primary key,
    api_key_id text collate "C" not null,
    purpose text not null,
    status text not null,
    filename text not null,
    content_type text not null,
    bytes integer not null,
    sha256 text collate "C",
    declared_sha256 text collate "C",
    width integer,
    height integer,
    blob_id text collate "C" references upload_blobs (id),
    lifetime_s integer not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    needed_until timestamptz,
    deleted_at timestamptz,
    of_task boolean not null default false,
    task_id text collate "C"
  )`,
  'create index uploads_of_key on uploads (api_key_id, id)',
  'create index uploads_of_blob on uploads (blob_id)',
  'create index uploads_expiring on uploads (expires_at)',
  'create index uploads_deleted on uploads (deleted_at) where deleted_at is not null',
  'create index uploads_of_task on uploads (task_id) where task_id is not null',
  // One row for each task. The row outlives the task.
  `create table usage_ledger (
    task_id text collate "C" primary key,
    api_key_id text collate "C" not null,
    completed_at timestamptz not null,
    outcome text not null,
    kind text not null,
    model text not null,
    provider text,
    resolution text,
    source text not null,
    batch_id text,
    metadata jsonb,
    images integer not null,
    video_seconds integer not null,
    submits integer not null,
    cost_micros bigint not null,
    basis text not null,
    rolled_up boolean not null default false,
    error_code text
  )`,
  // The first index has the few rows that no sum contains yet. A queried range may begin or end within a quarter of an
  // hour: the second index finds the rows of these two quarters. A row enters the second index when it is rolled up, so
  // the end of a task does not pay for it.
  'create index usage_ledger_new on usage_ledger (completed_at) where not rolled_up',
  'create index usage_ledger_completed on usage_ledger (completed_at, api_key_id) where rolled_up',
  // The rows of the ledger, summed by quarter of an hour and by day. `dimensions` is a hash of the columns from model
  // to metadata_value, because together they can exceed what an index entry holds.
  `create table usage_sums (
    api_key_id text collate "C" not null,
    span text not null check (span in ('quarter', 'day')),
    metadata_key text collate "C" not null default '',
    starts_at timestamptz not null,
    dimensions uuid not null,
    kind text not null,
    model text not null,
    provider text,
    resolution text,
    source text not null,
    batch_id text,
    metadata_value text,
    tasks bigint not null,
    succeeded bigint not null,
    failed bigint not null,
    cancelled bigint not null,
    images bigint not null,
    video_seconds bigint not null,
    submits bigint not null,
    cost_micros bigint not null,
    assumed_micros bigint not null,
    unpriced_tasks bigint not null,
    error_code text,
    primary key (api_key_id, span, metadata_key, starts_at, dimensions)
  ) with (fillfactor = 80)`,
  // For queries over all keys. The index is of expressions, so that the planner never uses it for a query of one key:
  // the query would read the rows of all keys.
  `create index usage_sums_by_time on usage_sums ((span || ''), (metadata_key || ''), starts_at)`,
];
