import { Injectable } from '@nestjs/common';
import type { ErasedPiece } from '../../auth/erasure/erasure-work.ts';
import { equalsOrdered } from '../../platform/database/planner.ts';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';
import { SETTLED_AFTER } from './delete-task.ts';

/** The most tasks that one step erases. */
const TASKS = 200;
/** The most idempotency keys that one statement deletes. */
const KEYS = 2_000;

const READ: Statement = {
  name: 'tasks.read_for_erasure',
  text: `
    select id, status in ('queued', 'running') as is_unfinished, files_purged,
           coalesce(completed_at < now() - ${SETTLED_AFTER}, false) as is_settled,
           case when files_purged then 0 else coalesce(json_array_length(result), 0) end as files
    from tasks where ${equalsOrdered('api_key_id', '$1::text')} and id > $2 order by api_key_id, id limit ${TASKS}`,
};

/**
 * Hides the tasks from requests. Also keeps the purge from deleting them, because the erasure reports how much it has
 * deleted.
 */
const HIDE: Statement = {
  name: 'tasks.hide',
  text: `
    update tasks_done t set expires_at = least(expires_at, now()), purge_after = now() + interval '1 day'
    where t.id = any($1::text[])
      and (t.expires_at > now() or purge_after is null or purge_after < now() + interval '12 hours')
    returning t.id`,
};

const DELETE: Statement = {
  name: 'tasks.erase',
  text: `
    delete from tasks_done where id = any($1::text[]) and api_key_id = $2`,
};

const DELETE_KEYS: Statement = {
  name: 'tasks.erase_idempotency_keys',
  text: `
    delete from idempotency_keys where api_key_id = $1 and key = any(array(
      select key from idempotency_keys where api_key_id = $1 limit ${KEYS}))`,
};

export interface TaskToErase {
  id: string;
  is_unfinished: boolean;
  files_purged: boolean;
  /** Whether the task ended so long ago that no worker writes files for it any more. */
  is_settled: boolean;
  /** How many of its outputs are still stored. */
  files: number;
}

/** Raw SQL because each statement is bounded, and because the times are the database's. */
@Injectable()
export class EraseTaskRows {
  constructor(private readonly sql: Sql) {}

  /** Reads tasks in the order of their ids. @param after the last id that was read; '' at first */
  read(apiKeyId: string, after: string): Promise<TaskToErase[]> {
    return this.sql.run<TaskToErase>(READ, [apiKeyId, after]);
  }

  /**
   * @returns the ids of the tasks that this call has changed: they were visible, or the purge could soon have taken
   *   them
   */
  async hide(ids: string[]): Promise<string[]> {
    return (await this.sql.run<{ id: string }>(HIDE, [ids])).map(({ id }) => id);
  }

  /** @returns how many were deleted */
  async delete(tx: Tx, apiKeyId: string, ids: string[]): Promise<number> {
    return (await tx.query({ ...DELETE, values: [ids, apiKeyId] })).rowCount ?? 0;
  }

  /** Deletes at most KEYS idempotency keys. */
  async deleteIdempotencyKeys(tx: Tx, apiKeyId: string): Promise<ErasedPiece> {
    const deleted = (await tx.query({ ...DELETE_KEYS, values: [apiKeyId] })).rowCount ?? 0;
    return { erased: { idempotency_keys: deleted }, mayBeMore: deleted === KEYS };
  }
}
