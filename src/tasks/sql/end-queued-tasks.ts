import type { EntityManager } from 'typeorm';
import type { CallerLimits } from '../../auth/access/caller.ts';
import type { ApiKeyLimits } from '../../auth/limits/api-key-limits.ts';
import { taskError } from '../record/task-error.ts';
import { startCountingBelow } from './start-counting-below.ts';
import { lockedWhere } from './locked-rows.ts';
import { MOVED } from './moved-columns.ts';
import { settled } from './settle-budgets.ts';

/** Locks the queued tasks of the API keys $1. */
const LOCK_QUEUED = `with ${lockedWhere('api_key_id = any($1::text[]) and attempt = 0')} select id from locked`;

/** Locks the counters of all keys that count the tasks $1. */
const LOCK_LOAD = `
  select from key_load where api_key_id in (
    select k.id from tasks_live t, unnest(array_append(counts_for, api_key_id)) k(id) where t.id = any($1::text[])
  ) order by api_key_id for update`;

/** The most tasks that one statement ends. 5,000 tasks with long inputs took longer than a statement may. */
const MAX_ENDED = 500;

/**
 * Ends queued tasks, without events, because a revoked key receives none. $1 are the tasks, $2 is the error. A queued
 * task costs nothing, because it has made no paid call. The tasks must be locked. Where several of these statements
 * follow each other, so must the counters: whatever locks tasks, key_load and key_budgets locks them in this order.
 */
const END_QUEUED = `
  with ended as (
    delete from tasks_live t where t.id = any($1::text[]) and t.attempt = 0
    returning t.*, now() as completed_at
  ), kept as (
    insert into tasks_done (${MOVED}, status, progress, sequence, completed_at, error)
    select ${MOVED}, 'failed', 0, sequence + 1, completed_at, $2::json from ended
  ), ledger as (
    insert into usage_ledger (task_id, api_key_id, completed_at, outcome, kind, model, resolution, source, batch_id, metadata,
                              images, video_seconds, submits, cost_micros, basis)
    select id, api_key_id, completed_at, 'cancelled', kind, model, input->>'resolution', source,
           batch_id, nullif(metadata, '{}'), 0, 0, 0, 0, 'free'
    from ended
    on conflict (task_id) do nothing
  ), freed as (
    select k.id, (count(*) filter (where api_key_id = k.id))::int as queued, (count(*) filter (where api_key_id = k.id and low))::int as lows,
           (count(*) filter (where api_key_id <> k.id))::int as below
    from ended, unnest(array_append(counts_for, api_key_id)) k(id) group by k.id
  ), load as (
    select api_key_id from key_load where api_key_id in (select id from freed) order by api_key_id for update
  ), free as (
    select k.id as api_key_id, budget_day, reserved_micros, 0 as cost_micros
    from ended, unnest(array_append(counts_for, api_key_id)) k(id)
  ), ${settled('free', 'load')}
  update key_load l
  set queued = l.queued - f.queued, low = greatest(l.low - f.lows, 0), below_queued = greatest(l.below_queued - f.below, 0)
  from freed f, load where l.api_key_id = load.api_key_id and f.id = load.api_key_id`;

/** A creation that is stuck in another process can lock the row of key_load for 5 s. This timeout is longer. */
const LOCK_TIMEOUT = `set local lock_timeout = '8s'`;

/** Ends the queued tasks of these keys with `task_cancelled`, in the caller's transaction. */
export async function endQueuedTasks(tx: EntityManager, apiKeyIds: string[]): Promise<void> {
  await tx.query(LOCK_TIMEOUT);
  const error = taskError('task_cancelled', { message: 'The task was cancelled because its API key was revoked.' });
  const locked = ((await tx.query(LOCK_QUEUED, [apiKeyIds])) as { id: string }[]).map(({ id }) => id);
  if (locked.length > MAX_ENDED) await tx.query(LOCK_LOAD, [locked]);
  for (let at = 0; at < locked.length; at += MAX_ENDED) {
    await tx.query(END_QUEUED, [locked.slice(at, at + MAX_ENDED), JSON.stringify(error)]);
  }
}

/** Claims read the limit from this row. After a limit is raised, the sweep wakes the tasks that may run now. */
const SET_LIMITS = `update key_load set max_running = $2, shared_running = $3, shared_queued = $4 where api_key_id = $1`;

/** Applies new limits to tasks that are already queued. Their places in the line stay, even if the weight changes. */
export async function setLimits(
  tx: EntityManager,
  apiKeyId: string,
  { maxRunning }: Pick<CallerLimits, 'maxRunning'>,
  own: ApiKeyLimits,
): Promise<void> {
  const { max_running = 0, max_queued = 0, budget } = own;
  if (max_running > 0 || max_queued > 0 || budget) await startCountingBelow(tx, apiKeyId);
  await tx.query(SET_LIMITS, [apiKeyId, maxRunning, max_running, max_queued]);
}
