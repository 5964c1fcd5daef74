import { Injectable } from '@nestjs/common';
import { equalsOrdered } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { isOneOf } from './held.ts';
import { agedPlaceOf } from './line.ts';

/** Seconds that a task waits before it may overtake newer tasks of other keys. */
const AGED_AFTER_S = 60;

/**
 * The oldest waiting tasks of each key and priority, as many as the key has weight: a large backlog must not overtake
 * the tasks of all other keys at once, and keys keep their shares. Tasks of one priority are passed over only where the
 * key has both.
 * @param unfinished SQL: how many unfinished tasks of this priority the key has
 */
const oldest = (low: 'low' | 'not low', unfinished: string): string => `
      select t.*, l.weight from key_load l, lateral (
        select id, api_key_id, low, priority, created_at from tasks_live
        where ${equalsOrdered('api_key_id', 'l.api_key_id')} and waits and ${low}
        order by api_key_id, id limit l.weight for update skip locked) t
      where l.queued > 0 and ${unfinished} > 0`;

const AGE: Statement = {
  name: 'tasks.age_priorities',
  text: `
    with normal as (${oldest('not low', 'l.queued + l.running - l.low')}
    ), low as (${oldest('low', 'l.low')}
    ), oldest as (
      select *, row_number() over (partition by api_key_id, low order by id) as nth
      from (select * from normal union all select * from low) each
      where created_at < now() - make_interval(secs => ${AGED_AFTER_S})
    ), placed as (
      select id, priority, ${agedPlaceOf('low', 'nth', 'weight')} as place from oldest
    )
    update tasks_live t set priority = p.place from placed p
    where ${isOneOf('select id from placed where place < priority')} and t.id = p.id
    returning t.id`,
};

/**
 * Moves tasks that have waited for long to the front of those of their priority. Otherwise a backlog, whose tasks come
 * after the first ones of every other key, would wait for as long as other keys create tasks. Raw SQL because of the
 * lateral join.
 */
@Injectable()
export class AgePriorities {
  constructor(private readonly sql: Sql) {}

  /** @returns how many tasks were moved */
  async age(): Promise<number> {
    return (await this.sql.run(AGE)).length;
  }
}
