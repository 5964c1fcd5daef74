import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { SHOWN, type ShownTask } from '../record/task.entity.ts';

/** The most tasks of one round. */
export const LAPSED_TASKS = 100;

/** After this time a task whose outputs could not be deleted is tried again. */
const RETRY_AFTER = `interval '5 minutes'`;

const TAKE: Statement = {
  name: 'tasks.take_lapsed_outputs',
  text: `
    with due as (
      select id from tasks_done
      where output_expires_at < now() and expires_at > now() and (purge_after is null or purge_after < now())
      order by output_expires_at limit ${LAPSED_TASKS} for update skip locked
    )
    update tasks_done t set purge_after = now() + ${RETRY_AFTER} where t.id = any(array(select id from due))
    returning ${SHOWN.map((column) => `t.${column}`).join(', ')}`,
};

/** Raw SQL because of `skip locked`, as for `PurgeRows`. */
@Injectable()
export class LapsedOutputs {
  constructor(private readonly sql: Sql) {}

  /** Reserves tasks with an output whose own expiry has passed. */
  take(): Promise<ShownTask[]> {
    return this.sql.run(TAKE);
  }
}
