import type { EntityManager } from 'typeorm';
import { keysFrom } from '../../auth/limits/keys-below.ts';
import { isOneOf, lockedWhere } from './locked-rows.ts';

const BELOW = `array(select id from (${keysFrom('$1')}) k where id <> $1)`;
const UNCOUNTED = `api_key_id = any(${BELOW}) and not coalesce(counts_for @> array[$1::text], false)`;

/** The tasks are locked first, then the counters, each in order. */
const LOCK_TASKS = `with ${lockedWhere(UNCOUNTED)} select count(*) from locked`;
const LOCK_LOAD = `select from key_load where api_key_id = any(${BELOW} || $1::text) order by api_key_id for update`;

const COUNT = `
  with counted as (
    update tasks_live t set counts_for = array_append(counts_for, $1) where ${isOneOf(`select id from tasks_live where ${UNCOUNTED}`)}
    returning status, held
  )
  insert into key_load as l (api_key_id, below_queued, below_running)
  select $1, count(*) filter (where status = 'queued'), count(*) filter (where status = 'running' and not held)
  from counted having count(*) > 0
  on conflict (api_key_id) do update
  set below_queued = l.below_queued + excluded.below_queued, below_running = l.below_running + excluded.below_running`;

const NOTE_ABOVE = `
  update key_load set above = array_append(above, $1)
  where api_key_id = any(${BELOW}) and not coalesce(above @> array[$1::text], false)`;

/**
 * Makes the unfinished tasks of the keys below count for this key too. Call it when this key gets a limit or budget
 * that it shares with them.
 */
export async function startCountingBelow(tx: EntityManager, apiKeyId: string): Promise<void> {
  for (const statement of [LOCK_TASKS, LOCK_LOAD, COUNT, NOTE_ABOVE]) await tx.query(statement, [apiKeyId]);
}
