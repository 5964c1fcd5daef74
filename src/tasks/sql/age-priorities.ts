import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** Seconds that a task waits before it may overtake newer tasks of other keys. */
const AGED_AFTER_S = 60;
/** Of each key and sweep. A few only: a large backlog must not overtake everybody else's tasks at once. */
const AGED_PER_KEY = 10;

/** The inner limit comes first: a key's oldest waiting tasks are looked at, aged or not, and never its whole backlog. */
const AGE: Statement = {
  name: 'tasks.age_priorities',
  text: `
    with oldest as (
      select t.id, t.priority, t.created_at from key_load l, lateral (
        select id, priority, created_at from tasks
        where api_key_id = l.api_key_id and status = 'queued' and not parked
        order by id limit ${AGED_PER_KEY} for update skip locked) t
      where l.queued > 0
    )
    update tasks t set priority = 0 from oldest o
    where t.id = o.id and o.priority > 0 and o.created_at < now() - make_interval(secs => ${AGED_AFTER_S})
    returning t.id`,
};

/**
 * Moves tasks that have waited for long to the front of the queue. Otherwise a backlog, whose tasks come after the first ones
 * of every other key, would wait for as long as other keys create tasks. Raw SQL because of the lateral join.
 */
@Injectable()
export class AgePriorities {
  constructor(private readonly sql: Sql) {}

  /** @returns how many tasks were moved */
  async age(): Promise<number> {
    return (await this.sql.run(AGE)).length;
  }
}
