import { Injectable } from '@nestjs/common';
import { hiddenTime, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import { TaskConditions } from './task-conditions.ts';

/** Raw SQL because of the hints to the planner. */
@Injectable()
export class ListUnfinished {
  constructor(private readonly sql: Sql) {}

  /** Ids of the unfinished tasks that match, oldest first. */
  async ids(apiKeyId: string, filter: TaskFilter, limit: number): Promise<string[]> {
    const conditions = new TaskConditions([apiKeyId, limit]);
    conditions.restrict(filter);
    return (await this.sql.run<{ id: string }>(unfinishedStatement(conditions), conditions.values)).map(({ id }) => id);
  }
}

/**
 * Reads all unfinished tasks of the key from the index `tasks_unfinished_of_key`, and compares and sorts them afterwards: an index of what the
 * filter asks for has the finished ones too.
 */
function unfinishedStatement(conditions: TaskConditions): Statement {
  const text = `
    select id from (
      select * from tasks
      where api_key_id = $1::text and status in ('queued', 'running') and ${hiddenTime('expires_at')} > now()
        ${PLANNED_SEPARATELY}) unfinished
    where true ${conditions.sql}
    order by id limit $2`;
  return { name: conditions.nameOf('tasks.unfinished'), text, isUnprepared: !conditions.isUsual() };
}
