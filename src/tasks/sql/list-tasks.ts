import { Injectable } from '@nestjs/common';
import { equalsOrdered, hiddenTime, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { TaskFilter } from '../list/task-filter.ts';
import { SHOWN_COLUMNS, type ShownTask } from '../task.entity.ts';
import { TaskConditions } from './task-conditions.ts';

export interface TaskPage {
  /** Newest first, unless the request says otherwise. */
  tasks: ShownTask[];
  hasMore: boolean;
}

export interface PageRequest {
  /** 1 to 100. */
  limit: number;
  /** Id of the last task of the previous page. */
  after?: string | null | undefined;
  /** `desc`, newest first, when absent. */
  order?: 'asc' | 'desc';
}

/**
 * Pages through the tasks of an API key; the id is the cursor, since ids sort by creation. Raw SQL because the list is a hot
 * read: each set of filters has a prepared statement, planned once per connection. TypeORM's query builder needs more than
 * twice the time (20 rows: 3.1 ms and 2.2 ms of CPU, not 1.4 and 1.0).
 */
@Injectable()
export class ListTasks {
  constructor(private readonly sql: Sql) {}

  async list(apiKeyId: string, filter: TaskFilter, { limit, after, order = 'desc' }: PageRequest): Promise<TaskPage> {
    const conditions = new TaskConditions([apiKeyId, limit + 1]);
    conditions.where('after', after, (value) => (order === 'desc' ? `id < ${value}` : `id > ${value}`));
    conditions.restrict(filter);
    const tasks = await this.sql.run<ShownTask>(pageStatement(conditions, order), conditions.values);
    return { tasks: tasks.slice(0, limit), hasMore: tasks.length > limit };
  }

  /** Ids of the unfinished tasks that match, oldest first. */
  async unfinishedIds(apiKeyId: string, filter: TaskFilter, limit: number): Promise<string[]> {
    const conditions = new TaskConditions([apiKeyId, limit]);
    conditions.restrict(filter);
    return (await this.sql.run<{ id: string }>(unfinishedStatement(conditions), conditions.values)).map(({ id }) => id);
  }
}

/** Always uses an index that starts with (api_key_id, id), so that a page costs the same at any length of the list. */
function pageStatement(conditions: TaskConditions, order: 'asc' | 'desc'): Statement {
  const text = `
    select ${SHOWN_COLUMNS} from tasks
    where ${equalsOrdered('api_key_id', '$1::text')} and ${hiddenTime('expires_at')} > now() ${conditions.sql}
    order by api_key_id ${order}, id ${order} limit $2`;
  return { name: conditions.nameOf('tasks.list', ...(order === 'asc' ? [order] : [])), text };
}

/** Reads all unfinished tasks of the key from the index `tasks_unfinished_of_key`, and sorts afterwards. */
function unfinishedStatement(conditions: TaskConditions): Statement {
  const text = `
    select id from (
      select id from tasks
      where api_key_id = $1::text and status in ('queued', 'running') and ${hiddenTime('expires_at')} > now()
        ${conditions.sql} ${PLANNED_SEPARATELY}) unfinished
    order by id limit $2`;
  return { name: conditions.nameOf('tasks.unfinished'), text };
}
