import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { moment, withMoments } from './add-moments.ts';
import { GIVES_UP, isOneOf } from './held.ts';
import { HELD_BY_LIMIT } from './paused-models.ts';
import { AT_ONCE } from './renew-leases.ts';

/**
 * Unparks the oldest parked tasks of these keys, as many as each key may run now, those of low priority last. But in $2
 * percent of its runs it begins with the oldest of low priority: those of a key that never runs out of normal tasks
 * would never start. A task that was held goes on by its lease, the others stand in the line again.
 */
const WAKE: Statement = {
  name: 'tasks.wake_parked',
  skipsLocked: true,
  text: `
    with free as (
      select api_key_id, greatest(case when max_running = 0 then 1000 else max_running - running + held end, 0) as places,
             low > 0 and random() * 100 < $2 as low_first
      from key_load where api_key_id = any($1::text[]) and ${GIVES_UP}
    ), turns as (
      select t.* from free, lateral (
        select id, api_key_id from tasks_live where api_key_id = free.api_key_id and ${HELD_BY_LIMIT} and low order by id
        limit case when free.low_first then least(free.places, 1) else 0 end for update skip locked) t
    ), next as (
      select t.id from free left join turns using (api_key_id), lateral (
        select id from tasks_live where api_key_id = free.api_key_id and ${HELD_BY_LIMIT} and id is distinct from turns.id order by low, id
        limit free.places - (turns.id is not null)::int for update skip locked) t
    )
    update tasks_live t set parked = false, waits = (t.attempt = 0), lease_until = case when t.attempt > 0 then ${AT_ONCE} end,
           timeline = ${withMoments('t.timeline', moment('released', 't.attempt'))}
    where ${isOneOf('select id from turns union all select id from next')} returning t.id`,
};

/**
 * Raw SQL because it runs after every end, and because `skip locked` in a lateral join has no query-builder form. It is a
 * separate statement after the commit that freed the places: one snapshot cannot see both that end and a task parked just
 * before it. If the process dies between the two, the sweep does the same.
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
}
