import { Injectable } from '@nestjs/common';
import { equalsOrdered, hidden, hiddenTime, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { Sql } from '../../platform/database/sql.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import { TaskConditions } from './task-conditions.ts';

/** Of the unfinished tasks, and of the final ones. */
export const MAX_COUNTED = 10_000;

interface Counts {
  queued: number;
  running: number;
  succeeded: number;
  failed: number;
  /** Those of the failed tasks that were cancelled. */
  cancelled: number;
}

/**
 * Counts the tasks of an API key by status. The unfinished ones come from their own index. The final ones are read newest
 * first up to a bound, so that a key with a million tasks costs no more than one with ten thousand.
 */
@Injectable()
export class CountTasks {
  constructor(private readonly sql: Sql) {}

  async count(apiKeyId: string, filter: TaskFilter): Promise<Counts & { capped: boolean }> {
    const conditions = new TaskConditions([apiKeyId, MAX_COUNTED + 1]);
    conditions.restrict(filter);
    const present = `${hiddenTime('expires_at')} > now()`;
    const text = `
      select count(*) filter (where status = 'queued')::int as queued,
             count(*) filter (where status = 'running')::int as running,
             count(*) filter (where status = 'succeeded')::int as succeeded,
             count(*) filter (where status = 'failed')::int as failed,
             count(*) filter (where status = 'failed' and code = 'task_cancelled')::int as cancelled
        from ((select status, null as code from (
                 select * from tasks
                 where api_key_id = $1::text and status in ('queued', 'running') and ${present} ${PLANNED_SEPARATELY}) unfinished
                where true ${conditions.sql} limit $2)
              union all
              (select status, error->>'code' as code from tasks
                where ${equalsOrdered('api_key_id', '$1::text')} and ${hidden('status')} in ('succeeded', 'failed') and ${present} ${conditions.sql}
                order by api_key_id desc, id desc limit $2)) counted`;
    const statement = { name: conditions.nameOf('tasks.count'), text, isUnprepared: !conditions.isUsual() };
    const [counts] = await this.sql.run<Counts>(statement, conditions.values);
    const { queued, running, succeeded, failed, cancelled } = counts!;
    const capped = queued + running > MAX_COUNTED || succeeded + failed > MAX_COUNTED;
    return { queued, running, succeeded, failed, cancelled, capped };
  }
}
