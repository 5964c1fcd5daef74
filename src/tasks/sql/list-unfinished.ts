import { Injectable } from '@nestjs/common';
import { equalsOrdered } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import { TaskConditions, UNFINISHED } from './task-conditions.ts';

/** Raw SQL, because the statements of the usual filters are prepared. */
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

function unfinishedStatement(conditions: TaskConditions): Statement {
  const text = `
    select id from ${UNFINISHED}
      and ${equalsOrdered('api_key_id', '$1::text')} and expires_at > now() ${conditions.sql}
    order by api_key_id, id limit $2`;
  return { name: conditions.nameOf('tasks.unfinished'), text, isUnprepared: !conditions.isUsual() };
}
