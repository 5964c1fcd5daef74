import { Injectable } from '@nestjs/common';
import { equalsOrdered } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { IN_FORCE, type Pause } from '../record/pause.entity.ts';
import { moment, withMoments } from './add-moments.ts';
import { GIVES_UP, isOneOf } from './locked-rows.ts';
import { HELD_BY_LIMIT, PAUSED_MODELS } from './paused-models.ts';

/** The most tasks per statement, so that no statement keeps its rows locked for long. */
const AT_ONCE = 1_000;
/**
 * Seconds for which a changed pause is checked again. A claim whose snapshot is older than the change still parks tasks
 * by the old pauses.
 */
export const SETTLED_AFTER_S = 40;

const READ: Statement = {
  name: 'tasks.read_pauses',
  text: `select * from pauses where ${IN_FORCE} order by id`,
};

/** @param which SQL condition for waiting tasks, or for tasks that are parked because their key is at its limit */
const setAside = (name: string, which: string, order: string): Statement => ({
  name,
  skipsLocked: true,
  text: `
    with paused as (${PAUSED_MODELS}
    ), next as (
      select t.id, p.pause_id from tasks_live t join paused p using (model)
      where ${which} and ${GIVES_UP} order by ${order} limit ${AT_ONCE} for update of t skip locked
    )
    update tasks_live t
    set parked = true, waits = false, paused_by = n.pause_id, timeline = ${withMoments('t.timeline', moment('held', 't.attempt', 'pause'))}
    from next n where ${equalsOrdered('t.id', 'n.id')} returning t.id`,
});
const SET_ASIDE = setAside('tasks.set_aside_waiting', 't.waits', 't.low, t.place, t.id');
const SET_ASIDE_PARKED = setAside(
  'tasks.set_aside_parked',
  `${HELD_BY_LIMIT} and attempt = 0`,
  't.api_key_id, t.low, t.id',
);

/**
 * SQL: whether a pause may still hold tasks that it should not hold any more: it has ended, or its models have changed
 * lately. With $1 it is true of every pause.
 */
const MAY_WAKE = `($1 or not (${IN_FORCE}) or changed_at > now() - interval '${SETTLED_AFTER_S} seconds')`;

/** Wakes tasks even if their key is at its limit of running tasks. A claim parks the tasks over the limit again. */
const WAKE: Statement = {
  name: 'tasks.wake_paused',
  skipsLocked: true,
  text: `
    with changed as (
      select id, case when ${IN_FORCE} then models else '{}' end as models from pauses where not released and ${MAY_WAKE} and ${GIVES_UP}
    ), next as (
      select t.id from changed c, lateral (
        select id from tasks_live where paused_by = c.id and model <> all(c.models)
        order by id limit ${AT_ONCE} for update skip locked) t
      limit ${AT_ONCE}
    )
    update tasks_live t
    set parked = false, waits = true, paused_by = null, timeline = ${withMoments('t.timeline', moment('released', 't.attempt'))}
    where ${isOneOf('select id from next')} returning t.id`,
};

const RELEASE: Statement = {
  name: 'tasks.release_pauses',
  text: `
    update pauses p set released = true
    where not released and ended_at is not null and changed_at < now() - interval '${SETTLED_AFTER_S} seconds'
      and not exists (select from tasks_live t where t.paused_by = p.id)`,
};

/**
 * Parks waiting tasks for pauses, and wakes them. Raw SQL because a statement changes up to a thousand rows, and skips
 * rows that others have locked. `key_load` stays as it is, because a parked task is still queued.
 */
@Injectable()
export class PauseTasks {
  constructor(private readonly sql: Sql) {}

  /** The pauses in force. */
  read(): Promise<Pause[]> {
    return this.sql.run<Pause>(READ);
  }

  /** Parks some waiting tasks of paused models. @returns how many, and whether there are no more */
  async setAside(): Promise<{ moved: number; isDone: boolean }> {
    const waiting = (await this.sql.run(SET_ASIDE)).length;
    const parked = (await this.sql.run(SET_ASIDE_PARKED)).length;
    return { moved: waiting + parked, isDone: Math.max(waiting, parked) < AT_ONCE };
  }

  /**
   * Wakes some tasks that no pause holds any more.
   * @param all also checks pauses that have not changed lately, which may read every task that they hold
   */
  async wake(all: boolean): Promise<{ moved: number; isDone: boolean }> {
    const moved = (await this.sql.run(WAKE, [all])).length;
    return { moved, isDone: moved < AT_ONCE };
  }

  /** Marks the ended pauses that hold no task any more, so that they are not checked again. */
  async release(): Promise<void> {
    await this.sql.run(RELEASE);
  }
}
