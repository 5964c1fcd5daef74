import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import type { MediaKind } from '../../models/media-kind.ts';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { type FirstAnswer, firstAnswersOf, slotOf, withoutTwins } from './first-answers.ts';

/** A task with its idempotency key if it has one; flat, since it goes to PostgreSQL as it is. */
export interface NewTask extends Partial<Idempotency> {
  id: string;
  api_key_id: string;
  kind: MediaKind;
  model: string;
  input: object;
  metadata: Record<string, string>;
  /** Unix milliseconds, as is `expires_at`: PostgreSQL reads a number in a fraction of the time that a date takes it. */
  created_at: number;
  expires_at: number;
  /** Seconds from now, by database time. */
  deadline_s: number;
  /** The key's limits; 0 = none. */
  max_queued: number;
  max_running: number;
}

export interface Idempotency {
  idempotency_key: string;
  /** SHA-256 of the canonical body, hex. */
  request_hash: string;
  /** The body of the first answer, given again byte for byte. */
  response: string;
  /** Unix milliseconds. */
  key_expires_at: number;
}

/** `replayed` is the first answer of a repeated Idempotency-Key; null when a new task was made. */
export interface Creation {
  replayed: { task_id: string; response: string } | null;
}

const MADE: Creation = Object.freeze({ replayed: null });

type Refusal = 'known_key' | 'queue_full';

/**
 * Task, idempotency key and load of the key in one statement, thus one commit, for many requests at once; the row is its
 * own place in the queue. Rows of `key_load` are locked first and in order, so two processes cannot lock each other out,
 * and the unique index of `idempotency_keys` makes concurrent twins wait for the first one's commit. The priority is the
 * number of unfinished tasks the key has: a backlog of one key does not delay another's single task. Rows of the batch are
 * never joined with each other, which would cost their square; only what was not made is answered.
 */
const CREATE: Statement = {
  name: 'tasks.create',
  text: `
    with wanted as (
      select * from json_to_recordset($1::json) as w(
        place int, id text, api_key_id text, kind text, model text, input json, metadata jsonb, created_at float8,
        expires_at float8, deadline_s float8, max_queued int, max_running int, idempotency_key text, request_hash text,
        response text, key_expires_at float8)
    ), load as (
      select * from key_load where api_key_id in (select api_key_id from wanted) order by api_key_id for update
    ), admitted as (
      select w.*, least(l.queued + l.running + w.place, 32000) as unfinished
      from wanted w join load l using (api_key_id)
      where w.max_queued = 0 or l.queued + w.place <= w.max_queued
    ), keyed as (
      insert into idempotency_keys as k (api_key_id, key, request_hash, task_id, response, expires_at)
      select api_key_id, idempotency_key, decode(request_hash, 'hex'), id, response, to_timestamp(key_expires_at / 1000)
      from admitted where idempotency_key is not null
      order by api_key_id, idempotency_key
      on conflict (api_key_id, key) do update
        set request_hash = excluded.request_hash, task_id = excluded.task_id, response = excluded.response,
            created_at = now(), expires_at = excluded.expires_at
        where k.expires_at < now()
      returning task_id
    ), made as (
      insert into tasks (id, api_key_id, kind, model, status, input, metadata, created_at, expires_at, deadline_at, priority)
      select id, api_key_id, kind, model, 'queued', input, metadata, to_timestamp(created_at / 1000),
             to_timestamp(expires_at / 1000), now() + make_interval(secs => deadline_s), unfinished
      from admitted
      where idempotency_key is null or id in (select task_id from keyed)
      returning id, api_key_id
    ), counted as (
      update key_load l set queued = l.queued + m.tasks, max_running = k.max_running
      from (select api_key_id, count(*) as tasks from made group by api_key_id) m,
           (select api_key_id, max(max_running) as max_running from wanted group by api_key_id) k
      where l.api_key_id = m.api_key_id and k.api_key_id = m.api_key_id
    )
    select id, 'known_key' as refusal from admitted where idempotency_key is not null and id not in (select task_id from keyed)
    union all
    select id, 'queue_full' from wanted where id not in (select id from admitted)`,
};

const OPEN_LOAD: Statement = {
  name: 'tasks.open_key_load',
  text: `insert into key_load (api_key_id) select distinct unnest($1::text[]) order by 1 on conflict do nothing`,
};

const ANSWERED: Statement = {
  name: 'tasks.idempotency_answered',
  text: 'update idempotency_keys set response = $4 where api_key_id = $1 and key = $2 and task_id = $3',
};

/** PostgreSQL gave up waiting for a lock (2 s): a twin of one of the batch is still under way elsewhere. */
const LOCK_NOT_AVAILABLE = '55P03';

@Injectable()
export class CreateTasks {
  // Taking all that wait, 64 clients fell into turns of 1 and 63, in which both sides waited for each other: 2 to 11 % fewer.
  private readonly batch = new Batch<NewTask, Creation>((tasks) => this.flush(tasks), {
    maxItems: 200,
    leavesHalf: true,
  });
  private readonly opened = new Set<string>();

  constructor(private readonly sql: Sql) {}

  /** @throws ApiError queue_full, idempotency_key_reused, idempotency_in_progress, service_unavailable */
  create(task: NewTask): Promise<Creation> {
    return this.batch.add(task);
  }

  /** The first answer was a later one (`Prefer: wait`): a repeated key gets that one. */
  async answeredWith(apiKeyId: string, key: string, taskId: string, response: string): Promise<void> {
    await this.sql.run(ANSWERED, [apiKeyId, key, taskId, response]);
  }

  private async flush(tasks: NewTask[]): Promise<(Creation | ApiError)[]> {
    const { firsts, twins } = withoutTwins(tasks);
    const refusals = await this.insert(firsts);
    for (const { id } of twins) refusals.set(id, 'known_key');

    const answers = await firstAnswersOf(
      this.sql,
      tasks.filter(({ id }) => refusals.has(id)),
    );
    return tasks.map((task) => {
      const refusal = refusals.get(task.id);
      return refusal ? judge(task, refusal, answers) : MADE;
    });
  }

  /** @returns the tasks that were not made, by id */
  private async insert(tasks: NewTask[]): Promise<Map<string, Refusal>> {
    await this.openLoad(tasks);
    try {
      const refused = await this.sql.run<{ id: string; refusal: Refusal }>(CREATE, [JSON.stringify(placed(tasks))]);
      return new Map(refused.map(({ id, refusal }) => [id, refusal]));
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      const isKeyed = tasks.some((task) => task.idempotency_key !== undefined);
      throw new ApiError(isKeyed ? 'idempotency_in_progress' : 'service_unavailable', {
        headers: { 'retry-after': '1' },
        cause: error,
      });
    }
  }

  private async openLoad(tasks: NewTask[]): Promise<void> {
    const unopened = tasks.map((task) => task.api_key_id).filter((id) => !this.opened.has(id));
    if (unopened.length === 0) return;
    await this.sql.run(OPEN_LOAD, [unopened]);
    for (const id of unopened) this.opened.add(id);
  }
}

/** Counts the tasks of each API key in the batch. */
function placed(tasks: NewTask[]): (NewTask & { place: number })[] {
  const places = new Map<string, number>();
  return tasks.map((task) => {
    const place = (places.get(task.api_key_id) ?? 0) + 1;
    places.set(task.api_key_id, place);
    return { ...task, place };
  });
}

function judge(task: NewTask, refusal: Refusal, answers: Map<string, FirstAnswer>): Creation | ApiError {
  const slot = slotOf(task);
  const first = slot && answers.get(slot);
  if (first) {
    if (first.request_hash !== task.request_hash) return new ApiError('idempotency_key_reused');
    return { replayed: { task_id: first.task_id, response: first.response } };
  }
  if (refusal === 'queue_full') {
    return new ApiError('queue_full', {
      message: `${task.max_queued} tasks of this API key are queued already, which is its limit.`,
      headers: { 'retry-after': '5' },
    });
  }
  // Known a moment ago and gone now: it expired in between. The client's next try makes a new task.
  return new ApiError('idempotency_in_progress', { headers: { 'retry-after': '1' } });
}
