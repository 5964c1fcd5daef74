import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { FREE_PLACES } from '../record/free-places.ts';
import { moment, withMoments } from './add-moments.ts';
import { GIVES_UP, isOneOf } from './locked-rows.ts';
import { HELD_BY_LIMIT } from './paused-models.ts';
import { AT_ONCE } from './renew-leases.ts';

const UNPARKED = `set parked = false, waits = (t.attempt = 0), lease_until = case when t.attempt > 0 then ${AT_ONCE} end,
           timeline = ${withMoments('t.timeline', moment('released', 't.attempt'))}`;

/**
 * Wakes the oldest parked tasks of these keys, as many as each key may run now. Low priority comes last, but in $2
 * percent of its runs the statement begins with the oldest low task. Otherwise the low tasks of a key that always has
 * normal ones would never start. A task that was never claimed stands in the line again. Any other task gets a lease
 * that has expired, so that a claim takes it.
 */
const WAKE: Statement = {
  name: 'tasks.wake_parked',
  skipsLocked: true,
  text: `
    with free as (
      select api_key_id, ${FREE_PLACES} as places, low > 0 and random() * 100 < $2 as low_first
      from key_load l where api_key_id = any($1::text[]) and ${GIVES_UP}
    ), turns as (
      select t.* from free, lateral (
        select id, api_key_id from tasks_live where api_key_id = free.api_key_id and ${HELD_BY_LIMIT} and low order by id
        limit case when free.low_first then least(free.places, 1) else 0 end for update skip locked) t
    ), next as (
      select t.id from free left join turns using (api_key_id), lateral (
        select id from tasks_live where api_key_id = free.api_key_id and ${HELD_BY_LIMIT} and id is distinct from turns.id order by low, id
        limit free.places - (turns.id is not null)::int for update skip locked) t
    )
    update tasks_live t ${UNPARKED}
    where ${isOneOf('select id from turns union all select id from next')} returning t.id`,
};

const oldest = (which: 'low' | 'not low'): string => `
          (select id, low, place from tasks_live where api_key_id = l.api_key_id and ${HELD_BY_LIMIT} and ${which} order by low, id
           limit least(shared.places, ${FREE_PLACES}))`;

/**
 * Wakes parked tasks of keys that share a limit with the keys below them. Among the tasks of all these keys, it wakes
 * those that come first in the line, but of each key only as many as that key may run itself. In $2 percent of its runs
 * low priority comes first.
 */
const WAKE_SHARED: Statement = {
  name: 'tasks.wake_shared',
  skipsLocked: true,
  text: `
    with shared as (
      select api_key_id, greatest(shared_running - running + held - below_running, 0) as places, random() * 100 < $2 as low_first
      from key_load where api_key_id = any($1::text[]) and shared_running > 0 and ${GIVES_UP}
    ), next as (
      select t.id from shared, lateral (
        select c.id from key_load l, lateral (${oldest('not low')} union all ${oldest('low')}) c
        where (l.api_key_id = shared.api_key_id or l.above @> array[shared.api_key_id]) and (l.queued > 0 or l.held > 0)
        order by c.low <> shared.low_first, c.place, c.id limit shared.places
      ) t
    ), ours as (
      select id from tasks_live where id in (select id from next) and ${HELD_BY_LIMIT} order by id for update skip locked
    )
    update tasks_live t ${UNPARKED} where ${isOneOf('select id from ours')} returning t.id`,
};

/**
 * Raw SQL because a wake-up follows every end, and because `skip locked` in a lateral join has no query-builder form.
 * It follows the commit of the end: the snapshot of the statement that ends a task may lack a task that was parked just
 * before. If the process dies between commit and wake-up, the sweep wakes the tasks.
 */
@Injectable()
export class WakeParked {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** @returns how many tasks may be claimed again */
  async wake(apiKeyIds: string[]): Promise<number> {
    return (await this.sql.run(WAKE, [apiKeyIds, this.config.lowPriorityShare])).length;
  }

  /** @param apiKeyIds keys that share a limit with the keys below them */
  async wakeShared(apiKeyIds: string[]): Promise<number> {
    return (await this.sql.run(WAKE_SHARED, [apiKeyIds, this.config.lowPriorityShare])).length;
  }
}
