import { Injectable } from '@nestjs/common';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';
import type { ShownBatch } from '../record/batch.entity.ts';
import { BatchRows } from './batch-rows.ts';

const HAS_UNFINISHED: Statement = {
  name: 'batches.has_unfinished',
  text: `
    select from tasks_live where batch_id = $1 limit 1`,
};

/**
 * A separate statement, so that END gets a snapshot that was taken after the wait for this lock. That snapshot has what
 * a purge has counted during the wait.
 */
const LOCK: Statement = {
  name: 'batches.lock',
  text: 'select id from batches where id = $1 and ended_at is null for update',
};

/** Ends a batch if all its items are final, and stores their counts. */
const END: Statement = {
  name: 'batches.end',
  text: `
    update batches b
    set status = case b.status when 'cancelling' then 'cancelled' else 'completed' end, ended_at = now(),
        succeeded = b.succeeded + t.succeeded, failed = b.failed + t.failed, cancelled = b.cancelled + t.cancelled
    from (
      select count(*) filter (where status in ('queued', 'running')) as unfinished,
             count(*) filter (where status = 'succeeded')::int as succeeded,
             count(*) filter (where status = 'failed' and error->>'code' <> 'task_cancelled')::int as failed,
             count(*) filter (where status = 'failed' and error->>'code' = 'task_cancelled')::int as cancelled
      from tasks where batch_id = $1) t
    where b.id = $1 and b.ended_at is null and t.unfinished = 0
    returning b.id`,
};

/** The most batches of one sweep. */
const SWEPT = 500;

/** The scalar subquery is deliberate: PostgreSQL never turns it into a join that reads all tasks. */
const LEFT_BEHIND: Statement = {
  name: 'batches.left_behind',
  text: `
    select b.id, b.status from batches b
    where b.ended_at is null and (b.status = 'cancelling' or (select 1 from tasks_live t where t.batch_id = b.id limit 1) is null)
    order by b.id limit ${SWEPT}`,
};

/**
 * Adds items to the counts of their batch when their records are deleted before the batch ends. Locks the batches in
 * the order of their ids, so that two concurrent purges do not deadlock.
 */
const COUNT_PURGED: Statement = {
  name: 'batches.count_purged',
  text: `
    with purged as (
      select * from json_to_recordset($1::json) as p(batch_id text, status text, cancelled boolean)
    ), counts as (
      select batch_id, count(*) filter (where status = 'succeeded')::int as succeeded,
             count(*) filter (where status = 'failed' and not cancelled)::int as failed,
             count(*) filter (where cancelled)::int as cancelled
      from purged group by batch_id
    ), held as (
      select id from batches where id in (select batch_id from counts) and ended_at is null order by id for update
    )
    update batches b
    set succeeded = b.succeeded + c.succeeded, failed = b.failed + c.failed, cancelled = b.cancelled + c.cancelled
    from counts c, held where b.id = c.batch_id and held.id = b.id`,
};

/** The most batches of one round of the purge. */
export const PURGE_BATCHES = 500;

const PURGE: Statement = {
  name: 'batches.purge',
  text: `
    with due as (
      select id from batches where kept_until < now() and ended_at is not null
      order by kept_until limit ${PURGE_BATCHES} for update skip locked
    )
    delete from batches b using due where b.id = due.id returning 1`,
};

export interface PurgedItem {
  batch_id: string;
  status: string;
  cancelled: boolean;
}

/** Raw SQL because one statement ends a batch by the states of its tasks. */
@Injectable()
export class EndBatches {
  constructor(
    private readonly sql: Sql,
    private readonly batches: BatchRows,
  ) {}

  async hasUnfinished(id: string): Promise<boolean> {
    return (await this.sql.run(HAS_UNFINISHED, [id])).length > 0;
  }

  /**
   * Ends the batch if all its items are final. If several callers try at the same time, in any number of processes,
   * only one ends it.
   * @param alongside writes in the same transaction; returns what to do after its commit
   * @returns whether this call has ended the batch
   */
  async end(id: string, alongside: (tx: Tx, batch: ShownBatch) => Promise<() => void>): Promise<boolean> {
    const afterCommit = await this.sql.transaction(async (tx) => {
      if ((await tx.query({ ...LOCK, values: [id] })).rows.length === 0) return null;
      if ((await tx.query({ ...END, values: [id] })).rows.length === 0) return null;
      const batch = await this.batches.findIn(tx, id);
      return batch ? alongside(tx, batch) : () => undefined;
    });
    afterCommit?.();
    return afterCommit !== null;
  }

  /**
   * At most `SWEPT` batches that still have to be ended: those that are being cancelled, and those without an
   * unfinished item. The process that had to end them may have been killed.
   */
  leftBehind(): Promise<{ id: string; status: 'in_progress' | 'cancelling' }[]> {
    return this.sql.run(LEFT_BEHIND);
  }

  /** Call this in the transaction that deletes the records of the items. */
  async countPurged(tx: Tx, items: PurgedItem[]): Promise<void> {
    await tx.query({ ...COUNT_PURGED, values: [JSON.stringify(items)] });
  }

  /** @returns how many were deleted */
  async purge(): Promise<number> {
    return (await this.sql.run(PURGE)).length;
  }
}
