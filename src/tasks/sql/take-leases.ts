import { Injectable } from '@nestjs/common';
import { boundsOf, hasIdOf, hidden, lockedTasks, within } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { SHOWN_COLUMNS, type ShownTask } from '../record/task.entity.ts';
import { RELEASED } from './renew-leases.ts';

/**
 * `coalesce` keeps the planner off the index of all leases.
 *
 * A task that was given back already waits for a claim: taking it again would lower `losses` for nothing. The attempt
 * rises, so that no later write of the worker takes effect, its renewals too. `losses` falls, because the claim that
 * follows counts a lost worker.
 */
const TAKE: Statement = {
  name: 'tasks.take_leases',
  text: `
    with wanted as (
      select unnest($1::text[]) as id
    ), held as (
      select t.id
      from ${lockedTasks(2, `${hidden('t.status')} = 'running' and coalesce(t.lease_until, '-infinity') >= ${RELEASED}`)}
    )
    update tasks t
    set attempt = t.attempt + 1, losses = t.losses - 1, worker_id = null, sequence = t.sequence + 1,
        lease_until = ${RELEASED} - interval '1 day'
    from held where ${hasIdOf('held.id')} and ${within(2)}
    returning ${SHOWN_COLUMNS.replace(/\w+/g, 't.$&')}`,
};

/** Raw SQL because many leases are taken in one statement, with rows locked in id order. */
@Injectable()
export class TakeLeases {
  constructor(private readonly sql: Sql) {}

  /** Takes running tasks away from their workers. @returns those that were running */
  take(ids: string[]): Promise<ShownTask[]> {
    return this.sql.run<ShownTask>(TAKE, [ids, ...boundsOf(ids)]);
  }
}
