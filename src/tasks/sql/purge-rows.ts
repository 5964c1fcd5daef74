import { Injectable } from '@nestjs/common';
import { inUtc } from '../../platform/database/planner.ts';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';

/** The most tasks of one round. */
export const PURGE_TASKS = 500;
/** The most idempotency keys of one round. */
export const PURGE_KEYS = 5_000;
/** The most rows of counters of one round. */
export const PURGE_COUNTERS = 1_000;

/** The most versions of models of one round. */
export const PURGE_VERSIONS = 100;

/** After this time a task is tried again if its files could not be deleted, or if the purging process died. */
const RETRY_AFTER = `interval '5 minutes'`;

const take = (name: string, time: string, due = 'true'): Statement => ({
  name,
  text: `
    with due as (
      select id from tasks_done
      where ${due} and ${inUtc(time)} < ${inUtc('now()')} and (purge_after is null or purge_after < now())
      order by ${inUtc(time)} limit ${PURGE_TASKS} for update skip locked
    )
    update tasks_done t set purge_after = now() + ${RETRY_AFTER} where t.id = any(array(select id from due))
    returning t.id, t.files_purged, t.expires_at <= now() as is_expired`,
});

const TAKE_WITH_FILES = take('tasks.take_expired_files', 'files_expire_at', 'not files_purged');
const TAKE_EXPIRED = take('tasks.take_expired', 'expires_at');

const FILES_PURGED: Statement = {
  name: 'tasks.files_purged',
  text: 'update tasks_done set files_purged = true, purge_after = null where id = any($1::text[])',
};

const DELETE: Statement = {
  name: 'tasks.delete_expired',
  text: `
    delete from tasks_done where id = any($1::text[])
    returning batch_id, status, coalesce(error->>'code' = 'task_cancelled', false) as cancelled`,
};

/** An item of a batch whose record was deleted. */
export interface PurgedItem {
  batch_id: string;
  status: 'succeeded' | 'failed';
  cancelled: boolean;
}

/** A hook of another module that writes in the transaction that deletes the records of items of batches. */
export type PurgeHook = (tx: Tx, items: PurgedItem[]) => Promise<void>;

const DELETE_KEYS: Statement = {
  name: 'tasks.delete_expired_idempotency_keys',
  text: `
    with due as (
      select api_key_id, key from idempotency_keys where expires_at < now() limit ${PURGE_KEYS} for update skip locked
    )
    delete from idempotency_keys k using due where k.api_key_id = due.api_key_id and k.key = due.key
    returning extract(epoch from now() - k.expires_at)::float8 as overdue_s`,
};

/**
 * Deletes the counters of keys without tasks. A creation that waits for such a row finds it gone, and creates another.
 */
const DELETE_COUNTERS: Statement = {
  name: 'tasks.delete_idle_key_load',
  text: `
    with idle as (
      select api_key_id from key_load l
      where queued = 0 and running = 0 and below_queued = 0 and below_running = 0 and not exists (select from tasks t where t.api_key_id = l.api_key_id)
      order by api_key_id limit ${PURGE_COUNTERS} for update skip locked
    )
    delete from key_load l using idle where l.api_key_id = idle.api_key_id returning 1`,
};

/**
 * Deletes versions of models that no task has. A process creates tasks only of versions that it has loaded, and records
 * these every hour. So no new task can have a version that was not recorded for a day. If a model has several versions,
 * the oldest row stays, because it says since when the model exists.
 */
const DELETE_VERSIONS: Statement = {
  name: 'tasks.delete_unnamed_versions',
  text: `
    with unnamed as (
      select id, version from model_versions v
      where loaded_at < now() - interval '1 day'
        and not exists (select from tasks_live t where t.model = v.id and t.model_version = v.version)
        and not exists (select from tasks_done t where t.model = v.id and t.model_version = v.version)
        and (exists (select from model_versions o where o.id = v.id and o.created_at < v.created_at)
             or not exists (select from model_versions o where o.id = v.id and o.version <> v.version))
      order by loaded_at limit ${PURGE_VERSIONS} for update skip locked
    )
    delete from model_versions v using unnamed u where v.id = u.id and v.version = u.version returning 1`,
};

export interface ExpiredTask {
  id: string;
  files_purged: boolean;
  /** Whether the record has expired too. */
  is_expired: boolean;
}

/** Raw SQL because of `skip locked`: several workers purge at the same time, each its own rows. */
@Injectable()
export class PurgeRows {
  private readonly hooks: PurgeHook[] = [];

  constructor(private readonly sql: Sql) {}

  registerHook(hook: PurgeHook): void {
    this.hooks.push(hook);
  }

  /** Reserves tasks whose files have expired. */
  takeWithFiles(): Promise<ExpiredTask[]> {
    return this.sql.run(TAKE_WITH_FILES);
  }

  /** Reserves tasks whose record has expired. */
  takeExpired(): Promise<ExpiredTask[]> {
    return this.sql.run(TAKE_EXPIRED);
  }

  async filesPurged(ids: string[]): Promise<void> {
    await this.sql.run(FILES_PURGED, [ids]);
  }

  async delete(ids: string[]): Promise<void> {
    await this.sql.transaction(async (tx) => {
      const { rows } = await tx.query<PurgedItem | { batch_id: null }>({ ...DELETE, values: [ids] });
      const items = rows.filter((row): row is PurgedItem => row.batch_id !== null);
      if (items.length > 0) for (const hook of this.hooks) await hook(tx, items);
    });
  }

  /** @returns for each deleted key, the seconds since it had expired */
  async deleteIdempotencyKeys(): Promise<number[]> {
    return (await this.sql.run<{ overdue_s: number }>(DELETE_KEYS)).map(({ overdue_s }) => overdue_s);
  }

  /**
   * Deletes versions of models that no task names and no process has loaded for a day; see DELETE_VERSIONS.
   * @returns how many were deleted
   */
  async deleteUnnamedVersions(): Promise<number> {
    return (await this.sql.run(DELETE_VERSIONS)).length;
  }

  /** Deletes the counters of API keys without stored tasks, most of them revoked. @returns how many were deleted */
  async deleteIdleCounters(): Promise<number> {
    return (await this.sql.run(DELETE_COUNTERS)).length;
  }
}
