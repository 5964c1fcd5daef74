import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { BatchByKey, type LockTimeout } from './batch-by-key.ts';
import {
  type FirstResponse,
  firstResponsesOf,
  type Idempotency,
  slotOf,
  withoutDuplicates,
} from './first-responses.ts';
import {
  BATCHING,
  COLUMNS,
  type ColumnTypes,
  definitionsOf,
  INSERT,
  INSERT_RESERVED,
  type NewTask,
} from './new-task.ts';
import {
  COUNTED,
  COUNTED_COLUMNS,
  insertOpened,
  LOAD,
  OpenKeyCounters,
  placed,
  type Refusal,
  type RefusalRow,
  type Refusals,
  refusalError,
  refusalsOf,
} from './admission.ts';
import { BUDGET, DECIDED, MADE_COLUMNS, RESERVED, SPENT_BUDGET } from './reserve-budget.ts';

/** SQL: the tasks of $3, a JSON array. */
const rowsOf = (columns: ColumnTypes): string =>
  `select * from json_to_recordset($3::json) as w(${definitionsOf(columns)})`;

const TASK_COLUMNS = {
  ...COLUMNS,
  idempotency_key: 'text',
  request_hash: 'text',
  response: 'text',
  key_ttl_s: 'float8',
} satisfies ColumnTypes & Partial<Record<keyof NewTask | keyof Idempotency, string>>;

/**
 * SQL fragment: stores the idempotency keys of the tasks. The primary key of `idempotency_keys` makes concurrent
 * requests with the same key wait for the commit of the first.
 * @param which SQL: whether a task of `wanted` may be stored
 */
const keyed = (which: string): string => `
    keyed as (
      insert into idempotency_keys as k (api_key_id, key, request_hash, task_id, response, expires_at)
      select load.api_key_id, idempotency_key, decode(request_hash, 'hex'), id, response, now() + make_interval(secs => key_ttl_s)
      from wanted join load using (key) where idempotency_key is not null and ${which}
      order by load.api_key_id, idempotency_key
      on conflict (api_key_id, key) do update
        set request_hash = excluded.request_hash, task_id = excluded.task_id, response = excluded.response,
            created_at = now(), expires_at = excluded.expires_at
        where k.expires_at < now()
      returning task_id
    )`;

/**
 * SQL: whether to insert a task. With `is true` PostgreSQL looks the id up in a hash table. Without it, PostgreSQL
 * would compare each task with each key in a join.
 */
const IS_NEW = '(idempotency_key is null and nth <= admitted or id in (select task_id from keyed)) is true';

/**
 * Inserts the tasks of many requests with their idempotency keys, and updates the counters of their API keys, in one
 * commit. Returns the refused tasks, with the reason.
 */
const CREATE: Statement = {
  name: 'tasks.create',
  text: `
    with ${LOAD}, wanted as (
      ${rowsOf(TASK_COLUMNS)}
    ), ${keyed('nth <= admitted')}, made as (${INSERT}
      where ${IS_NEW}
      returning ${COUNTED_COLUMNS}
    ), ${COUNTED}
    select id, case when admitted is null then 'no_counters' when nth > admitted then 'queue_full' else 'known_key' end as refusal
    from wanted left join load using (key) where not ${IS_NEW}`,
};

const RESERVED_COLUMNS = { ...TASK_COLUMNS, estimate_micros: 'bigint' };

/**
 * CREATE for API keys with a budget: it also reserves the estimated costs. It is a second statement, because CREATE
 * takes PostgreSQL only half the time of this one.
 */
const CREATE_RESERVED: Statement = {
  name: 'tasks.create_reserved',
  text: `
    with recursive ${LOAD}, wanted as (
      ${rowsOf(RESERVED_COLUMNS)}
    ), ${BUDGET}, ${DECIDED}, granted as (
      select id from decided where refusal is null
    ), ${keyed('id in (select id from granted)')}, created as (
      select id from wanted where idempotency_key is null and id in (select id from granted) union all select task_id from keyed
    ), made as (${INSERT_RESERVED}
      where id in (select id from created)
      returning ${COUNTED_COLUMNS}, ${MADE_COLUMNS}
    ), ${COUNTED}, ${RESERVED}
    select w.id, case when d.id is null then 'no_counters' else coalesce(d.refusal, 'known_key') end as refusal,
           case when d.refusal = 'budget_exceeded' then ${SPENT_BUDGET} end as budget
    from wanted w left join decided d using (id) left join budget on budget.api_key_id = d.api_key_id
    where w.id not in (select id from created)`,
};

type Creation = NewTask & Partial<Idempotency>;

/** Stores tasks, each together with its idempotency key if it came with one. */
@Injectable()
export class CreateTasks {
  private readonly plain = this.batchOf(CREATE);
  private readonly reserved = this.batchOf(CREATE_RESERVED);

  constructor(
    private readonly sql: Sql,
    private readonly counters: OpenKeyCounters,
  ) {}

  /**
   * @returns the first answer, if the Idempotency-Key was used before; then nothing is stored
   * @throws ApiError queue_full, budget_exceeded, idempotency_key_reused, idempotency_in_progress, service_unavailable
   */
  create(task: NewTask, idempotency: Idempotency | null = null): Promise<FirstResponse | null> {
    const batch = task.estimate_micros === undefined ? this.plain : this.reserved;
    return batch.add({ ...task, ...idempotency });
  }

  private batchOf(statement: Statement): BatchByKey<Creation, FirstResponse | null> {
    return new BatchByKey((tasks, wait) => this.flush(statement, tasks, wait), {
      ...BATCHING,
      name: statement.name,
    });
  }

  private async flush(
    statement: Statement,
    tasks: Creation[],
    wait: LockTimeout,
  ): Promise<(FirstResponse | null | ApiError)[]> {
    const { firsts, duplicates } = withoutDuplicates(tasks);
    const insert = async (opened: Creation[]): Promise<Refusals> => {
      // Creations with an Idempotency-Key come last. A creation whose key is known stores nothing, so it must not take
      // the room of another creation.
      const isKeyed = ({ idempotency_key }: Creation): number => Number(idempotency_key !== undefined);
      const { rows, keys } = placed(opened.toSorted((a, b) => isKeyed(a) - isKeyed(b)));
      return refusalsOf(await this.sql.run<RefusalRow>(statement, [JSON.stringify(keys), wait, JSON.stringify(rows)]));
    };
    const refusals = new Map(await insertOpened(this.counters, firsts, insert));
    for (const { item, first } of duplicates) refusals.set(item.id, refusals.get(first.id) ?? 'known_key');

    const refused = tasks.filter(({ id }) => refusals.has(id));
    // Does not throw, because the other tasks are stored by now.
    const responses = await firstResponsesOf(this.sql, refused).catch(() => null);
    return tasks.map((task) => {
      const refusal = refusals.get(task.id);
      if (!refusal) return null;
      return responses ? resultOf(task, refusal, responses) : new ApiError('service_unavailable', { retryAfterS: 1 });
    });
  }
}

function resultOf(task: Creation, refusal: Refusal, responses: Map<string, FirstResponse>): FirstResponse | ApiError {
  const first = responses.get(slotOf(task) ?? '');
  if (first && first.request_hash !== task.request_hash) {
    return new ApiError('idempotency_key_reused', { param: 'Idempotency-Key' });
  }
  if (first) return first;
  if (refusal !== 'known_key') return refusalError(task, refusal);
  // The key existed during the insert but has expired since. The client's retry creates a new task.
  return new ApiError('idempotency_in_progress');
}
