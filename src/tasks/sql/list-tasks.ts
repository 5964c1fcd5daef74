import { Injectable } from '@nestjs/common';
import { equalsOrdered, hiddenTime, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { TaskFilter } from '../list/task-filter.ts';
import { createdMsOf, idBoundAt } from '../task-id.ts';
import { SHOWN_COLUMNS, type ShownTask } from '../task.entity.ts';

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
 * An id and `created_at` come from two readings of the clock that differ by a moment. So a window of time is also read as a
 * window of ids that is wider by this much, and tasks outside it cost nothing (the oldest of 700,000: 0.7 s without).
 */
const ID_SLACK_S = 60;

/**
 * Pages through the tasks of an API key; the id is the cursor, since ids sort by creation. Raw SQL because the list is a hot
 * read: each set of filters has a prepared statement, planned once per connection. TypeORM's query builder needs more than
 * twice the time (20 rows: 3.1 ms and 2.2 ms of CPU, not 1.4 and 1.0).
 */
@Injectable()
export class ListTasks {
  constructor(private readonly sql: Sql) {}

  async list(apiKeyId: string, filter: TaskFilter, { limit, after, order = 'desc' }: PageRequest): Promise<TaskPage> {
    const page = new PageStatement(apiKeyId, limit + 1, order);
    page.where('after', after, (value) => (order === 'desc' ? `id < ${value}` : `id > ${value}`));
    restrict(page, filter);
    const tasks = await this.sql.run<ShownTask>(page.statement, page.values);
    return { tasks: tasks.slice(0, limit), hasMore: tasks.length > limit };
  }

  /** Ids of the unfinished tasks that match, oldest first. */
  async unfinishedIds(apiKeyId: string, filter: TaskFilter, limit: number): Promise<string[]> {
    const page = new PageStatement(apiKeyId, limit);
    restrict(page, filter);
    return (await this.sql.run<{ id: string }>(page.statementOfUnfinished, page.values)).map(({ id }) => id);
  }
}

function restrict(page: PageStatement, filter: TaskFilter): void {
  page.where('kind', filter.kind, (value) => `kind = ${value}`);
  page.where('model', filter.model, (value) => `model = ${value}`);
  page.where('by', filter.source, (value) => `source = ${value}`);
  page.where('of', filter.parent_task_id, (value) => `parent_task_id = ${value}`);
  if (typeof filter.batch_id === 'string') restrictToBatch(page, filter.batch_id);
  page.where('from', filter.created_after, (value) => `created_at > to_timestamp(${value}::float8)`);
  page.where('', idBound(filter.created_after, -ID_SLACK_S), (value) => `id > ${value}`);
  page.where('to', filter.created_before, (value) => `created_at < to_timestamp(${value}::float8)`);
  page.where('', idBound(filter.created_before, ID_SLACK_S), (value) => `id < ${value}`);
  page.where('meta', jsonOf(filter.metadata), (value) => `metadata <> '{}' and metadata @> ${value}::jsonb`);
  if (filter.status) page.whereLiteral(filter.status, `status = '${filter.status}'`);
}

/** The ids of a batch's tasks carry its time of creation, so the bounds keep the index short. An id without a time matches nothing. */
function restrictToBatch(page: PageStatement, batchId: string): void {
  const createdMs = createdMsOf(batchId);
  if (createdMs === null) return page.whereLiteral('nothing', 'false');
  page.where('batch', batchId, (value) => `batch_id = ${value}`);
  page.where('', idBoundAt(createdMs), (value) => `id > ${value}`);
  page.where('', idBoundAt(createdMs + 1), (value) => `id < ${value}`);
}

/** Builds one statement for each set of filters in use. Its name lists them, briefly: all together stay within 63 bytes. */
class PageStatement {
  readonly values: unknown[];
  private readonly names: string[] = [];
  private readonly conditions: string[] = [];

  constructor(
    apiKeyId: string,
    limit: number,
    private readonly order: 'asc' | 'desc' = 'desc',
  ) {
    this.values = [apiKeyId, limit];
    if (order === 'asc') this.names.push(order);
  }

  /** @param value the condition is left out when null or undefined */
  where(name: string, value: unknown, condition: (placeholder: string) => string): void {
    if (value === undefined || value === null) return;
    this.values.push(value);
    this.conditions.push(`and ${condition(`$${this.values.length}`)}`);
    if (name) this.names.push(name);
  }

  /** Writes the value into the statement, because the partial index of failed tasks only fits the literal. */
  whereLiteral(name: string, condition: string): void {
    this.conditions.push(`and ${condition}`);
    this.names.push(name);
  }

  /** Always uses an index that starts with (api_key_id, id), so that a page costs the same at any length of the list. */
  get statement(): Statement {
    const text = `
      select ${SHOWN_COLUMNS} from tasks
      where ${equalsOrdered('api_key_id', '$1::text')} and ${hiddenTime('expires_at')} > now() ${this.conditions.join(' ')}
      order by api_key_id ${this.order}, id ${this.order} limit $2`;
    return { name: ['tasks.list', ...this.names].join(' '), text };
  }

  /** Reads all unfinished tasks of the key from the index `tasks_unfinished_of_key`, and sorts afterwards. */
  get statementOfUnfinished(): Statement {
    const text = `
      select id from (
        select id from tasks
        where api_key_id = $1::text and status in ('queued', 'running') and ${hiddenTime('expires_at')} > now()
          ${this.conditions.join(' ')} ${PLANNED_SEPARATELY}) unfinished
      order by id limit $2`;
    return { name: ['tasks.unfinished', ...this.names].join(' '), text };
  }
}

const idBound = (unixS: number | null | undefined, slackS: number): string | undefined =>
  typeof unixS === 'number' ? idBoundAt((unixS + slackS) * 1000) : undefined;

const jsonOf = (metadata: Record<string, string> | null | undefined): string | undefined =>
  metadata && Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : undefined;
