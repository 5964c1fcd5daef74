import type { EntityManager } from 'typeorm';
import { taskError } from '../task-error.ts';

/**
 * Ends what one API key has queued, without events: a revoked key receives none. Locks tasks -> key_load, each in order, as all
 * statements that take both; the count forces all tasks to be locked before the row of key_load. $1 the key, $2 the error.
 */
const END_QUEUED = `
  with held as (
    select id from tasks where api_key_id = $1 and status = 'queued' order by id for update
  ), ended as (
    update tasks t
    set status = 'failed', error = $2::json, completed_at = now(), sequence = t.sequence + 1, progress = 0,
        lease_until = null, parked = false
    from held h where t.id = h.id
    returning t.id
  ), freed as (
    select count(*)::int as queued from ended
  ), load as (
    select api_key_id from key_load where api_key_id = $1 and (select queued from freed) > 0 for update
  )
  update key_load l set queued = l.queued - f.queued from freed f, load where l.api_key_id = load.api_key_id`;

/** A creation of the key that is stuck in another process keeps the row of key_load for at most 5 s. */
const LOCK_TIMEOUT = `set local lock_timeout = '8s'`;

/** Ends the queued tasks of a key with `task_cancelled`, in the caller's transaction. */
export async function endQueuedTasks(tx: EntityManager, apiKeyId: string): Promise<void> {
  await tx.query(LOCK_TIMEOUT);
  const error = taskError('task_cancelled', { message: 'The task was cancelled because its API key was revoked.' });
  await tx.query(END_QUEUED, [apiKeyId, JSON.stringify(error)]);
}

/** Claims take the limit from this row. The sweep wakes the tasks that a higher limit lets run. */
const SET_MAX_RUNNING = `update key_load set max_running = $2 where api_key_id = $1`;

/** Makes a new limit count for tasks that are queued already. */
export async function setMaxRunning(tx: EntityManager, apiKeyId: string, maxRunning: number): Promise<void> {
  await tx.query(SET_MAX_RUNNING, [apiKeyId, maxRunning]);
}
