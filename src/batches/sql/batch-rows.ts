import { Injectable } from '@nestjs/common';
import { hiddenTime } from '../../platform/database/planner.ts';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';
import type { BatchFault } from '../record/batch-fault.ts';
import type { BatchStatus } from '../record/batch-status.ts';
import type { Batch, ShownBatch } from '../record/batch.entity.ts';

export type NewBatchRow = Pick<
  Batch,
  | 'id'
  | 'api_key_id'
  | 'endpoint'
  | 'input_file_id'
  | 'metadata'
  | 'total'
  | 'invalid'
  | 'errors'
  | 'request_id'
  | 'created_at'
  | 'kept_until'
>;

const INSERT: Statement = {
  name: 'batches.insert',
  text: `
    insert into batches (id, api_key_id, endpoint, input_file_id, metadata, total, invalid_items, invalid, errors,
                         request_id, created_at, kept_until)
    values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8::json, $9::json, $10, $11, $12)`,
};

/**
 * SQL: the time in the id of a batch. The ids of its tasks contain the same time, so the batch's rows in `usage_ledger`
 * are in one range of that table's primary key.
 */
const TIME = 'substr(b.id, 7, 10)';

/**
 * A batch with the counts of its items: the stored counts, plus the tasks that the stored counts do not include yet.
 * Both are read in one snapshot. So an item counts once, even if a purge or the end of the batch adds it to the stored
 * counts meanwhile. The cost of an ended batch is read from the ledger, because a provider may lower the cost by
 * confirming a cancel later.
 */
const SHOWN = `
    select b.id, b.api_key_id, b.endpoint, b.status, b.input_file_id, b.metadata, b.total, b.invalid_items, b.errors,
           b.created_at, b.cancelling_at, b.ended_at, b.kept_until,
           t.queued, t.running, b.succeeded + t.succeeded as succeeded, b.failed + t.failed as failed,
           b.cancelled + t.cancelled as cancelled, u.usage
    from batches b, lateral (
      select count(*) filter (where status = 'queued')::int as queued,
             count(*) filter (where status = 'running')::int as running,
             count(*) filter (where status = 'succeeded')::int as succeeded,
             count(*) filter (where status = 'failed' and error->>'code' <> 'task_cancelled')::int as failed,
             count(*) filter (where status = 'failed' and error->>'code' = 'task_cancelled')::int as cancelled
      from tasks where batch_id = b.id and b.ended_at is null) t, lateral (
      select case when b.ended_at is not null then json_build_object(
               'images', coalesce(sum(images), 0), 'video_seconds', coalesce(sum(video_seconds), 0),
               'submits', coalesce(sum(submits), 0), 'cost_micros', coalesce(sum(cost_micros), 0),
               'assumed_micros', coalesce(sum(cost_micros) filter (where basis = 'assumed'), 0),
               'unpriced_tasks', count(*) filter (where basis = 'unpriced')) end as usage
      from usage_ledger
      where batch_id = b.id and b.ended_at is not null
        and task_id > 'task_' || ${TIME} and task_id < 'task_' || ${TIME} || '~') u`;

const FIND: Statement = {
  name: 'batches.find',
  text: `${SHOWN} where b.id = $1 and b.kept_until > now()`,
};

const LIST: Statement = {
  name: 'batches.list',
  text: `${SHOWN}
    where b.id in (
      select id from batches
      where api_key_id = $1 and ${hiddenTime('kept_until')} > now() and ($3::text is null or id < $3) and ($4::text is null or status = $4)
      order by id desc limit $2)
    order by b.id desc`,
};

const INVALID: Statement = {
  name: 'batches.invalid',
  text: `select invalid, request_id from batches where id = $1`,
};

const INVALID_ITEMS: Statement = {
  name: 'batches.invalid_items',
  text: `
    select coalesce(sum(invalid_items), 0)::int as items from batches where api_key_id = $1 and invalid_items > 0`,
};

const CANCEL: Statement = {
  name: 'batches.cancel',
  text: `
    update batches set status = 'cancelling', cancelling_at = now()
    where id = $1 and status = 'in_progress' returning id`,
};

export interface BatchPage {
  limit: number;
  after?: string | null | undefined;
  status?: BatchStatus | null | undefined;
}

/** Raw SQL because the statements count the tasks of each batch. */
@Injectable()
export class BatchRows {
  constructor(private readonly sql: Sql) {}

  insert(tx: Tx, row: NewBatchRow): Promise<unknown> {
    const { id, api_key_id, endpoint, input_file_id, metadata, total, invalid, errors, request_id } = row;
    const faults = [invalid?.length ?? 0, invalid && JSON.stringify(invalid), errors && JSON.stringify(errors)];
    const values = [id, api_key_id, endpoint, input_file_id, JSON.stringify(metadata), total, ...faults];
    return tx.query({ ...INSERT, values: [...values, request_id, row.created_at, row.kept_until] });
  }

  /**
   * Finds a batch of any API key.
   * @returns null when there is no such batch or its `kept_until` has passed
   */
  async find(id: string): Promise<ShownBatch | null> {
    const [batch] = await this.sql.run<ShownBatch>(FIND, [id]);
    return batch ?? null;
  }

  /** Finds a batch inside the transaction, which sees its own writes. */
  async findIn(tx: Tx, id: string): Promise<ShownBatch | null> {
    const { rows } = await tx.query<ShownBatch>({ ...FIND, values: [id] });
    return rows[0] ?? null;
  }

  /** Batches, newest first. */
  async list(apiKeyId: string, page: BatchPage): Promise<{ batches: ShownBatch[]; hasMore: boolean }> {
    const { limit, after = null, status = null } = page;
    const batches = await this.sql.run<ShownBatch>(LIST, [apiKeyId, limit + 1, after, status]);
    return { batches: batches.slice(0, limit), hasMore: batches.length > limit };
  }

  /** The columns that only the results of a batch need. */
  async invalidOf(id: string): Promise<{ invalid: BatchFault[]; requestId: string | null }> {
    const [row] = await this.sql.run<Pick<Batch, 'invalid' | 'request_id'>>(INVALID, [id]);
    return { invalid: row?.invalid ?? [], requestId: row?.request_id ?? null };
  }

  /** How many invalid items the batches of an API key have. */
  async invalidItemsOf(apiKeyId: string): Promise<number> {
    return (await this.sql.run<{ items: number }>(INVALID_ITEMS, [apiKeyId]))[0]!.items;
  }

  /** @returns whether the batch was in progress */
  async startCancelling(id: string): Promise<boolean> {
    return (await this.sql.run(CANCEL, [id])).length === 1;
  }
}
