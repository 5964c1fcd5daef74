import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { BatchByKey, type LockWait, lockWait } from './batch-by-key.ts';
import { type FirstResponse, firstResponsesOf, slotOf, withoutDuplicates } from './first-responses.ts';
import { BATCHING, COLUMNS, INSERT, type NewTask, toRows } from './new-task.ts';
import {
  insertOpened,
  LOAD,
  OpenKeyCounters,
  REFUSAL,
  type Refusal,
  type Refusals,
  refusalError,
} from './open-key-counters.ts';

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

/**
 * Inserts tasks and their idempotency keys and updates the counters of their API keys in one commit. The primary key of
 * `idempotency_keys` makes concurrent requests with the same key wait for the first one's commit. Returns every task that it
 * did not insert, with the reason.
 */
const CREATE: Statement = {
  name: 'tasks.create_keyed',
  text: `
    with wanted as (
      select * from json_to_recordset($1::json) as w(${COLUMNS},
        idempotency_key text, request_hash text, response text, key_ttl_s float8), ${lockWait('$2')}
    ), ${LOAD}, keyed as (
      insert into idempotency_keys as k (api_key_id, key, request_hash, task_id, response, expires_at)
      select api_key_id, idempotency_key, decode(request_hash, 'hex'), id, response, now() + make_interval(secs => key_ttl_s)
      from wanted join load using (api_key_id) where place <= admitted
      order by api_key_id, idempotency_key
      on conflict (api_key_id, key) do update
        set request_hash = excluded.request_hash, task_id = excluded.task_id, response = excluded.response,
            created_at = now(), expires_at = excluded.expires_at
        where k.expires_at < now()
      returning task_id
    ), made as (${INSERT}
      where id in (select task_id from keyed)
      returning api_key_id
    ), counted as (
      update key_load l set queued = l.queued + m.tasks, max_running = m.max_running
      from (
        select api_key_id, count(*) as tasks, max(max_running) as max_running
        from made join load using (api_key_id) group by api_key_id
      ) m
      where l.api_key_id = m.api_key_id
    )
    select id, ${REFUSAL} as refusal
    from wanted left join load using (api_key_id) where id not in (select task_id from keyed)`,
};

/** Stores tasks that came with an idempotency key, together with the key. */
@Injectable()
export class CreateKeyedTasks {
  private readonly batch = new BatchByKey<KeyedTask, Creation>((tasks, wait) => this.flush(tasks, wait), BATCHING);

  constructor(
    private readonly sql: Sql,
    private readonly counters: OpenKeyCounters,
  ) {}

  /** @throws ApiError queue_full, idempotency_key_reused, idempotency_in_progress, service_unavailable */
  create(task: KeyedTask): Promise<Creation> {
    return this.batch.add(task);
  }

  private async flush(tasks: KeyedTask[], wait: LockWait): Promise<(Creation | ApiError)[]> {
    const { firsts, duplicates } = withoutDuplicates(tasks);
    const refusals = new Map(await insertOpened(this.counters, firsts, (opened) => this.insert(opened, wait)));
    for (const { item, first } of duplicates) refusals.set(item.id, refusals.get(first.id) ?? 'known_key');

    const refused = tasks.filter(({ id }) => refusals.has(id));
    const responses = await firstResponsesOf(this.sql, refused);
    return tasks.map((task) => {
      const refusal = refusals.get(task.id);
      return refusal ? resultOf(task, refusal, responses) : CREATED;
    });
  }

  private async insert(tasks: KeyedTask[], wait: LockWait): Promise<Refusals> {
    const refused = await this.sql.run<{ id: string; refusal: Refusal }>(CREATE, [toRows(tasks), wait]);
    return new Map(refused.map(({ id, refusal }) => [id, refusal]));
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
