import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { hiddenTime } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { BatchByKey, type LockWait } from './batch-by-key.ts';
import { type ColumnTypes, rowsOfArrays, toArrays } from './column-arrays.ts';
import { type FirstResponse, firstResponsesOf, slotOf, withoutDuplicates } from './first-responses.ts';
import { BATCHING, COLUMNS, INSERT, INSERT_RESERVED, type NewTask, placed } from './new-task.ts';
import {
  COUNTED,
  COUNTED_COLUMNS,
  insertOpened,
  LOAD,
  OpenKeyCounters,
  REFUSAL,
  type Refusal,
  type RefusalRow,
  type Refusals,
  refusalError,
  refusalsOf,
} from './open-key-counters.ts';
import { BUDGET, decided, ESTIMATE_COLUMN, MADE_COLUMNS, RESERVED, SPENT_BUDGET } from './reserve-budget.ts';

export interface Idempotency {
  idempotency_key: string;
  /** SHA-256 of the canonical body, hex. */
  request_hash: string;
  /** Body of the first response; a repeated request gets it byte for byte. */
  response: string;
  /** Seconds for which the key is kept, from now by the database's clock. */
  key_ttl_s: number;
}

export type KeyedTask = NewTask & Idempotency;

export interface Creation {
  /** The first response, if the Idempotency-Key was used before; null when a new task was created. */
  replayed: { task_id: string; response: string } | null;
}

const CREATED: Creation = Object.freeze({ replayed: null });

const KEYED_COLUMNS = {
  ...COLUMNS,
  idempotency_key: 'text',
  request_hash: 'text',
  response: 'text',
  key_ttl_s: 'float8',
} satisfies ColumnTypes & Partial<Record<keyof KeyedTask, string>>;
const RESERVED_COLUMNS = { ...KEYED_COLUMNS, ...ESTIMATE_COLUMN };

/** @param which SQL: whether the key of a task of `wanted` is inserted */
const keyed = (which: string): string => `
    keyed as (
      insert into idempotency_keys as k (api_key_id, key, request_hash, task_id, response, expires_at)
      select load.api_key_id, idempotency_key, decode(request_hash, 'hex'), id, response, now() + make_interval(secs => key_ttl_s)
      from wanted join load using (key) where ${which}
      order by load.api_key_id, idempotency_key
      on conflict (api_key_id, key) do update
        set request_hash = excluded.request_hash, task_id = excluded.task_id, response = excluded.response,
            created_at = now(), expires_at = excluded.expires_at
        where k.expires_at < now()
      returning task_id
    )`;

/**
 * SQL: whether a task is inserted, thus its key was. Nearly always all are: then no task is looked up among the keys.
 * The look-up is a hash table, because `is true` keeps the planner from a join, which would compare each task with each
 * key.
 */
const IS_NEW = `(nth <= admitted and ((select all_new from whole) or (id in (select task_id from keyed)) is true))`;

/**
 * Inserts tasks and their idempotency keys and updates the counters of their API keys in one commit. The primary key of
 * `idempotency_keys` makes concurrent requests with the same key wait for the first one's commit. Returns every task
 * that it did not insert, with the reason.
 */
const CREATE: Statement = {
  name: 'tasks.create_keyed',
  text: `
    with ${LOAD}, wanted as not materialized (
      ${rowsOfArrays(KEYED_COLUMNS, 3)}
    ), ${keyed('nth <= admitted')}, whole as (
      select (select count(*) from keyed) = (select sum(admitted) from load) as all_new
    ), made as (${INSERT}
      where ${IS_NEW}
      returning ${COUNTED_COLUMNS}
    ), ${COUNTED}
    select id, ${REFUSAL} as refusal
    from wanted left join load using (key) where ${IS_NEW} is not true`,
};

/** A repeated request reserves nothing, so it must not take the room of another one. */
const IS_KNOWN = `coalesce((
               select true from idempotency_keys k
               where k.api_key_id = load.api_key_id and k.key = w.idempotency_key and ${hiddenTime('k.expires_at')} >= now()), false)`;

/** The same for tasks of API keys with a budget, which it reserves. */
const CREATE_RESERVED: Statement = {
  name: 'tasks.create_keyed_reserved',
  text: `
    with recursive ${LOAD}, wanted as (
      ${rowsOfArrays(RESERVED_COLUMNS, 3)}
    ), ${BUDGET}, ${decided(IS_KNOWN)}, ${keyed('id in (select id from decided where refusal is null)')}, made as (${INSERT_RESERVED}
      where id in (select task_id from keyed)
      returning ${COUNTED_COLUMNS}, ${MADE_COLUMNS}
    ), ${COUNTED}, ${RESERVED}
    select w.id, case when d.id is null then 'no_counters' else coalesce(d.refusal, 'known_key') end as refusal,
           case when d.refusal = 'budget_exceeded' then ${SPENT_BUDGET} end as budget
    from wanted w left join decided d using (id) left join budget on budget.api_key_id = d.api_key_id
    where w.id not in (select task_id from keyed)`,
};

/** Stores tasks that came with an idempotency key, together with the key. */
@Injectable()
export class CreateKeyedTasks {
  private readonly batch = this.batchOf(CREATE, KEYED_COLUMNS);
  /** Apart, so that budgets cost nothing to the keys that have none. */
  private readonly reserved = this.batchOf(CREATE_RESERVED, RESERVED_COLUMNS);

  constructor(
    private readonly sql: Sql,
    private readonly counters: OpenKeyCounters,
  ) {}

  /**
   * @throws ApiError queue_full, budget_exceeded, idempotency_key_reused, idempotency_in_progress, service_unavailable
   */
  create(task: KeyedTask): Promise<Creation> {
    return (task.estimate_micros === undefined ? this.batch : this.reserved).add(task);
  }

  private batchOf(statement: Statement, columns: ColumnTypes): BatchByKey<KeyedTask, Creation> {
    return new BatchByKey((tasks, wait) => this.flush(statement, columns, tasks, wait), {
      ...BATCHING,
      name: statement.name,
    });
  }

  private async flush(
    statement: Statement,
    columns: ColumnTypes,
    tasks: KeyedTask[],
    wait: LockWait,
  ): Promise<(Creation | ApiError)[]> {
    const { firsts, duplicates } = withoutDuplicates(tasks);
    const insert = async (opened: KeyedTask[]): Promise<Refusals> => {
      const { rows, keys } = placed(opened);
      return refusalsOf(
        await this.sql.run<RefusalRow>(statement, [JSON.stringify(keys), wait, ...toArrays(columns, rows)]),
      );
    };
    const refusals = new Map(await insertOpened(this.counters, firsts, insert));
    for (const { item, first } of duplicates) refusals.set(item.id, refusals.get(first.id) ?? 'known_key');

    const refused = tasks.filter(({ id }) => refusals.has(id));
    const responses = await firstResponsesOf(this.sql, refused);
    return tasks.map((task) => {
      const refusal = refusals.get(task.id);
      return refusal ? resultOf(task, refusal, responses) : CREATED;
    });
  }
}

function resultOf(task: KeyedTask, refusal: Refusal, responses: Map<string, FirstResponse>): Creation | ApiError {
  const first = responses.get(slotOf(task));
  if (first) {
    if (first.request_hash !== task.request_hash) {
      return new ApiError('idempotency_key_reused', { param: 'Idempotency-Key' });
    }
    return { replayed: { task_id: first.task_id, response: first.response } };
  }
  if (refusal !== 'known_key') return refusalError(task, refusal);
  // The key existed during the insert but has expired since. The client's retry creates a new task.
  return new ApiError('idempotency_in_progress');
}
