import { Injectable } from '@nestjs/common';
import { equalsOrdered } from '../../platform/database/planner.ts';
import { Sql } from '../../platform/database/sql.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import { TaskConditions, UNFINISHED } from './task-conditions.ts';

/** The most tasks that are counted in each table. */
export const MAX_COUNTED = 10_000;

interface Counts {
  queued: number;
  running: number;
  succeeded: number;
  failed: number;
  /** How many of the failed tasks were cancelled: a cancelled task has the status failed. */
  cancelled: number;
}

/**
 * Counts the tasks of an API key by status. Each table is read newest first, up to MAX_COUNTED matches, so a key with a
 * million tasks costs no more than one with ten thousand. If few tasks match a filter, more tasks are read.
 */
@Injectable()
export class CountTasks {
  constructor(private readonly sql: Sql) {}

  async count(apiKeyId: string, filter: TaskFilter): Promise<Counts & { capped: boolean }> {
    const conditions = new TaskConditions([apiKeyId, MAX_COUNTED + 1]);
    conditions.restrict(filter);
    const newest = (tasks: string): string => `
        select status, error->>'code' as code from ${tasks} and ${equalsOrdered('api_key_id', '$1::text')} and expires_at > now() ${conditions.sql}
        order by api_key_id desc, id desc limit $2`;
    const text = `
      select count(*) filter (where status = 'queued')::int as queued,
             count(*) filter (where status = 'running')::int as running,
             count(*) filter (where status = 'succeeded')::int as succeeded,
             count(*) filter (where status = 'failed')::int as failed,
             count(*) filter (where status = 'failed' and code = 'task_cancelled')::int as cancelled
      from ((${newest(UNFINISHED)}) union all (${newest('tasks_done where true')})) counted`;
    const statement = { name: conditions.nameOf('tasks.count'), text, isUnprepared: !conditions.isUsual() };
    const [counts] = await this.sql.run<Counts>(statement, conditions.values);
    const { queued, running, succeeded, failed, cancelled } = counts!;
    const capped = queued + running > MAX_COUNTED || succeeded + failed > MAX_COUNTED;
    return { queued, running, succeeded, failed, cancelled, capped };
  }
}
