import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { SHOWN_OF_LIVE, type ShownTask } from '../record/task.entity.ts';
import { isOneOf, locked } from './locked-rows.ts';
import { IS_CALLING } from './record-submit.ts';
import { AT_ONCE, RELEASED } from './renew-leases.ts';

/** As long as a call that creates a job takes, unless its binding allows more. */
const UNKNOWN_CALL_S = 60;

/**
 * Takes tasks away from their workers. The attempt rises, so that no later write of the worker takes effect, not even a
 * renewal. `losses` falls, because the next claim raises it although no worker was lost. A task that was given back is
 * left out: it already waits for a claim, and `losses` would fall once too often.
 *
 * If the id of a paid call is not known yet, the call may be in flight. The next claim then waits for that id, at most
 * for UNKNOWN_CALL_S, because it could not find the job of that call, and would pay for it a second time.
 *
 * `coalesce` keeps the planner off the index of all leases.
 */
const TAKE: Statement = {
  name: 'tasks.take_leases',
  text: `
    with ${locked('$1')}
    update tasks_live t
    set attempt = t.attempt + 1, losses = t.losses - 1, worker_id = null, sequence = t.sequence + 1,
        lease_until = case when ${IS_CALLING} then now() + interval '${UNKNOWN_CALL_S} s' else ${AT_ONCE} end
    where ${isOneOf('select id from locked where attempt > 0')} and coalesce(t.lease_until, '-infinity') >= ${RELEASED}
      and not (${IS_CALLING} and t.worker_id is null)
    returning ${SHOWN_OF_LIVE}`,
};

/** Raw SQL because many leases are taken in one statement, with rows locked in id order. */
@Injectable()
export class TakeLeases {
  constructor(private readonly sql: Sql) {}

  /** Takes running tasks away from their workers. @returns the tasks that were taken away */
  take(ids: string[]): Promise<ShownTask[]> {
    return this.sql.run<ShownTask>(TAKE, [ids]);
  }
}
