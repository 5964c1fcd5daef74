import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import type { CallerBound } from '../../auth/access/caller.ts';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';
import { isLockTimeout, setLockTimeout } from './batch-by-key.ts';
import { type FirstResponse, firstResponsesOf, type Idempotency } from './first-responses.ts';
import { BATCH_COLUMNS, DEFINITIONS, INSERT_OF_BATCH, type NewBatchTask, type TaskLimits } from './new-task.ts';
import { type KeyRow, OpenKeyCounters, placed, startOf, STARTS } from './admission.ts';
import { reserveForTasks } from './reserve-for-tasks.ts';

/** Tasks that are stored in one commit. */
export interface NewTaskBatch {
  id: string;
  api_key_id: string;
  /** May be empty. */
  tasks: NewBatchTask[];
  /** The limits of the API key; 0 = unlimited. */
  limits: TaskLimits;
  /** The keys above that count the tasks too; left out if there are none. */
  above?: CallerBound[] | undefined;
  idempotency: Idempotency | null;
  /** Writes the record of the batch in the transaction that stores the tasks. */
  writeRecord?: (tx: Tx) => Promise<unknown>;
}

/**
 * Reads the key's place in the line without a lock. A thousand rows take a while to insert, and claims and ends of the
 * key must not wait for that. COUNT then puts all later tasks behind these.
 */
const INSERT: Statement = {
  name: 'tasks.create_batch',
  text: `
    with wanted as (
      select * from json_to_recordset($1::json) as w(${DEFINITIONS}, ${BATCH_COLUMNS}), ${setLockTimeout(`'1200ms'`)}
    ), load as (
      select 1 as key, l.api_key_id, ${STARTS} from key_load l cross join line n where l.api_key_id = $2 and n.id
    )${INSERT_OF_BATCH}`,
};

/**
 * Counts the tasks for their key $1 and for the keys above it, $2, if each of these keys has room. It runs after the
 * insert, because every statement locks tasks before counters. It locks the rows of all these keys, in order, before it
 * counts, so two keys below the same key cannot pass its limit together.
 */
const COUNT: Statement = {
  name: 'tasks.count_batch',
  text: `
    with load as (
      select l.api_key_id, a.max_queued, case when a.id is null
               then ($5 > 0 and queued + $4 > $5) or (shared_queued > 0 and queued + below_queued + $4 > shared_queued)
               else a.max_queued > 0 and queued + below_queued + $4 > a.max_queued end as is_full
      from key_load l left join unnest($2::text[], $3::int[]) as a(id, max_queued) on a.id = l.api_key_id
      where l.api_key_id = any($2::text[] || $1::text) order by l.api_key_id for update of l
    ), found as (
      select count(*)::int as keys, bool_or(is_full) as is_full, min(max_queued) filter (where is_full) as full_above from load
    ), below as (
      update key_load l set below_queued = below_queued + $4 from found f where l.api_key_id = any($2::text[]) and not f.is_full
    ), own as (
      update key_load l
      set queued = queued + $4, low = least(low, queued + running) + $7, max_running = $6,
          above = case when $2::text[] = '{}' then above else $2::text[] end,
          place = ${startOf('place')} + $8, low_place = ${startOf('low_place')} + $9
      from line n, found f where n.id and l.api_key_id = $1 and not f.is_full
    )
    select * from found`,
};

const KEEP_KEY: Statement = {
  name: 'tasks.keep_batch_key',
  text: `
    insert into idempotency_keys as k (api_key_id, key, request_hash, task_id, response, expires_at)
    values ($1, $2, decode($3, 'hex'), $4, $5, now() + make_interval(secs => $6))
    on conflict (api_key_id, key) do update
      set request_hash = excluded.request_hash, task_id = excluded.task_id, response = excluded.response,
          created_at = now(), expires_at = excluded.expires_at
      where k.expires_at < now()`,
};

/** Rolls the transaction back: the Idempotency-Key was used before. */
class KnownKey extends Error {}
/** Rolls the transaction back: the row in `key_load` of the key, or of a key above it, was removed. */
class NoCounters extends Error {}

/** Stores all the tasks of a batch, or none. Raw SQL because a thousand rows are one statement. */
@Injectable()
export class CreateTaskBatch {
  constructor(
    private readonly sql: Sql,
    private readonly counters: OpenKeyCounters,
  ) {}

  /**
   * @returns the first answer, if the Idempotency-Key was used before; then nothing is stored
   * @throws ApiError queue_full, budget_exceeded, idempotency_key_reused, idempotency_in_progress, service_unavailable
   */
  async create(batch: NewTaskBatch): Promise<FirstResponse | null> {
    try {
      await this.storeWithCounters(batch);
      return null;
    } catch (error) {
      const first = batch.idempotency && (await this.firstResponse(batch, batch.idempotency));
      if (first) return first;
      if (error instanceof KnownKey) throw new ApiError('idempotency_in_progress');
      if (isLockTimeout(error)) throw new ApiError('service_unavailable', { retryAfterS: 1, cause: error });
      throw error;
    }
  }

  /** @throws ApiError idempotency_key_reused */
  async firstResponse(
    { api_key_id }: Pick<NewTaskBatch, 'api_key_id'>,
    { idempotency_key, request_hash }: Pick<Idempotency, 'idempotency_key' | 'request_hash'>,
  ): Promise<FirstResponse | null> {
    const responses = await firstResponsesOf(this.sql, [{ api_key_id, idempotency_key }]);
    const [first] = responses.values();
    if (!first) return null;
    if (first.request_hash === request_hash) return first;
    throw new ApiError('idempotency_key_reused', { param: 'Idempotency-Key' });
  }

  private async storeWithCounters(batch: NewTaskBatch): Promise<void> {
    const above = batch.above ?? [];
    const owner = [{ api_key_id: batch.api_key_id }, ...above.map(({ apiKeyId }) => ({ api_key_id: apiKeyId }))];
    await this.counters.open(owner);
    try {
      await this.store(batch);
    } catch (error) {
      if (!(error instanceof NoCounters)) throw error;
      this.counters.forget(owner);
      await this.counters.open(owner);
      await this.store(batch);
    }
  }

  private store(batch: NewTaskBatch): Promise<void> {
    return this.sql.transaction(async (tx) => {
      const { rows, keys } = placed(batch.tasks);
      const inserted = tx.query({ ...INSERT, values: [JSON.stringify(rows), batch.api_key_id] });
      const [{ rowCount }] = await Promise.all([inserted, batch.writeRecord?.(tx)]);
      if (rowCount !== batch.tasks.length) throw new NoCounters();
      const [key] = keys;
      if (key) await admit(tx, batch, key);
      if (batch.idempotency) await keepKey(tx, batch, batch.idempotency);
    });
  }
}

/**
 * Counts the tasks, and reserves their estimates if there is a budget. Each of the two steps refuses the whole batch if
 * there is no room.
 */
async function admit(tx: Tx, { api_key_id, tasks, above = [] }: NewTaskBatch, key: KeyRow): Promise<void> {
  await count(tx, key, above);
  const hasBudget = tasks.some(({ estimate_micros }) => estimate_micros !== undefined);
  if (hasBudget) await reserveForTasks(tx, [api_key_id, ...above.map(({ apiKeyId }) => apiKeyId)], tasks);
}

async function count(tx: Tx, key: KeyRow, above: CallerBound[]): Promise<void> {
  const { api_key_id, tasks, max_running, max_queued, low_tasks, ends, low_ends } = key;
  const bounds = [above.map(({ apiKeyId }) => apiKeyId), above.map(({ limits }) => limits.maxQueued ?? 0)];
  const values = [api_key_id, ...bounds, tasks, max_queued, max_running, low_tasks, ends.at(-1), low_ends.at(-1)];
  const { rows } = await tx.query<Counted>({ ...COUNT, values });
  const { keys, is_full, full_above } = rows[0]!;
  if (keys <= above.length) throw new NoCounters(); // a row was purged since the tasks were inserted
  if (!is_full) return;
  const message =
    full_above === null
      ? `This API key may have ${max_queued} queued tasks, and a batch of ${tasks} more would exceed that.`
      : // A key must not see the limit of a key above it.
        `A key above this API key has no room for ${tasks} more queued ${tasks === 1 ? 'task' : 'tasks'}.`;
  throw new ApiError('queue_full', { message });
}

interface Counted {
  /** How many of the keys have a row in `key_load`. */
  keys: number;
  is_full: boolean;
  /** The lowest limit among the full keys above; null if none is full. */
  full_above: number | null;
}

async function keepKey(tx: Tx, { id, api_key_id }: NewTaskBatch, key: Idempotency): Promise<void> {
  const { idempotency_key, request_hash, response, key_ttl_s } = key;
  const values = [api_key_id, idempotency_key, request_hash, id, response, key_ttl_s];
  const { rowCount } = await tx.query({ ...KEEP_KEY, values });
  if (rowCount === 0) throw new KnownKey();
}
