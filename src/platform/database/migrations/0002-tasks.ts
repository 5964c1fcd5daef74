import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tasks. Columns that are only stored and shown are `json`, which keeps the order of the keys; columns that are searched are
 * `jsonb`. Fill factor 80 leaves room for progress updates on the same page (HOT).
 */
export class Tasks1700000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table tasks (
        id text collate "C" primary key,
        api_key_id text collate "C" not null,
        kind text not null check (kind in ('image', 'video')),
        model text not null,
        status text not null check (status in ('queued', 'running', 'succeeded', 'failed')),
        progress smallint not null default 0 check (progress between 0 and 100),
        sequence integer not null default 1,
        input json not null,
        metadata jsonb not null default '{}',
        created_at timestamptz not null,
        started_at timestamptz,
        completed_at timestamptz,
        deadline_at timestamptz not null,
        expires_at timestamptz not null,
        attempt integer not null default 0,
        losses smallint not null default 0,
        lease_until timestamptz,
        worker_id text,
        parked boolean not null default false,
        provider text,
        credential text,
        submitted_at timestamptz,
        upstream_id text,
        upstream_request_id text,
        approximations json,
        result json,
        error json,
        files_expire_at timestamptz,
        files_purged boolean not null default false
      ) with (fillfactor = 80)`);
    await runner.query('create index tasks_of_key on tasks (api_key_id, id)');
    await runner.query(
      `create index tasks_unfinished_of_key on tasks (api_key_id, status, id) where status in ('queued', 'running')`,
    );
    await runner.query(`create index tasks_failed_of_key on tasks (api_key_id, id) where status = 'failed'`);
    await runner.query(
      `create index tasks_metadata on tasks using gin (metadata jsonb_path_ops) where metadata <> '{}'`,
    );
    await runner.query(
      `create index tasks_lapsing on tasks (lease_until) where status in ('queued', 'running') and not parked`,
    );
    await runner.query(`create index tasks_due on tasks (deadline_at) where status in ('queued', 'running')`);
    await runner.query('create index tasks_parked_of_key on tasks (api_key_id, id) where parked');
    await runner.query('create index tasks_expiring on tasks (expires_at)');
    await runner.query('create index tasks_files_expiring on tasks (files_expire_at) where not files_purged');

    // The numbers of queued and running tasks per key. They are exact, because every change of status updates them in the
    // same commit. Counting rows instead would make the cost of a create grow with the key's backlog.
    await runner.query(`
      create table key_load (
        api_key_id text collate "C" primary key,
        queued integer not null default 0,
        running integer not null default 0,
        max_running integer not null default 0
      ) with (fillfactor = 20)`);

    await runner.query(`
      create table idempotency_keys (
        api_key_id text collate "C" not null,
        key text collate "C" not null,
        request_hash bytea not null,
        task_id text not null,
        response text not null,
        created_at timestamptz not null default now(),
        expires_at timestamptz not null,
        primary key (api_key_id, key)
      )`);
    await runner.query('create index idempotency_keys_expiring on idempotency_keys (expires_at)');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
