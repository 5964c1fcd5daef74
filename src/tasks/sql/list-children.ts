import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { BatchPerKey } from '../../platform/database/batch-per-key.ts';
import { equalsOrdered } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { SHOWN, SHOWN_COLUMNS, type ShownTask } from '../record/task.entity.ts';
import { countListed, type TaskPage } from './page-of-tasks.ts';

export interface ChildrenRequest {
  apiKeyId: string;
  parentId: string;
  /** 1 to 100. */
  limit: number;
  /** Id of the last child of the previous page. */
  after: string | null | undefined;
}

/**
 * The most characters of inputs and metadata in the lists of one request that has lists of children. A document may ask
 * for the children of a hundred tasks.
 */
const CHILDREN_CHARACTERS = 1_048_576;
/** The most characters of inputs and metadata that one statement reads. It may serve several requests of an API key. */
const READ_CHARACTERS = 4 * CHILDREN_CHARACTERS;

const READ_INPUT = `case when characters <= ${READ_CHARACTERS} then input end as input`;

/**
 * Finds the tasks that were made from each parent. `size` is one more than the limit, to see whether there are more.
 * Without a page before, `after` is `~`, which sorts behind every id. The statement returns null for inputs beyond
 * READ_CHARACTERS.
 */
const CHILDREN: Statement = {
  name: 'tasks.list_children',
  text: `
    with pages as (
      select w.request::int, t.* from unnest($1::text[], $2::text[], $3::text[], $4::int[]) with ordinality
               as w(api_key_id, parent_id, after, size, request),
             lateral (
        select ${SHOWN_COLUMNS} from tasks
        where ${equalsOrdered('api_key_id', 'w.api_key_id')} and parent_task_id = w.parent_id and id < w.after and expires_at > now()
        order by api_key_id desc, id desc limit w.size) t
    ), measured as (
      select *, sum(length(input::text) + length(metadata::text)) over (order by request, id desc) as characters from pages
    )
    select request, ${SHOWN.map((column) => (column === 'input' ? READ_INPUT : column)).join(', ')}
    from measured order by request, id desc`,
};

/** Raw SQL because the pages of many parents, which one GraphQL document may ask for, are one statement. */
@Injectable()
export class ListChildren {
  private readonly batches = new BatchPerKey<ChildrenRequest, TaskPage>((requests) => this.flush(requests), {
    name: 'tasks.children',
    maxItems: 100,
  });

  constructor(private readonly sql: Sql) {}

  /**
   * The tasks that were made from a task, newest first.
   * @throws ApiError too_many_items when the lists of the present request would have more than CHILDREN_CHARACTERS
   */
  async list(request: ChildrenRequest): Promise<TaskPage> {
    let page = await this.batches.add(request.apiKeyId, request);
    // Other requests of the key, which share the statement, may have used up READ_CHARACTERS.
    if (page.tasks.some(({ input }) => input === null)) [page] = (await this.flush([request])) as [TaskPage];
    for (const task of page.tasks) {
      if (task.input !== null && countListed(task) <= CHILDREN_CHARACTERS) continue;
      const message =
        'The inputs and metadata of these tasks and their children are too long for one answer; ask for fewer tasks.';
      throw new ApiError('too_many_items', { message });
    }
    return page;
  }

  private async flush(requests: ChildrenRequest[]): Promise<TaskPage[]> {
    const rows = await this.sql.run<ShownTask & { request: number }>(CHILDREN, [
      requests.map(({ apiKeyId }) => apiKeyId),
      requests.map(({ parentId }) => parentId),
      requests.map(({ after }) => after ?? '~'),
      requests.map(({ limit }) => limit + 1),
    ]);
    const byRequest = Map.groupBy(rows, ({ request }) => request - 1);
    return requests.map(({ limit }, at) => {
      const tasks = byRequest.get(at) ?? [];
      return { tasks: tasks.slice(0, limit), hasMore: tasks.length > limit };
    });
  }
}
