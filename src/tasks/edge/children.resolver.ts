import { Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { assertScope, CurrentCaller } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { After, type Connection, First, toConnection } from '../../platform/graphql/connection.ts';
import { ListChildren } from '../sql/list-children.ts';
import { isTaskId } from '../record/task-id.ts';
import { TaskViews } from '../read/task-views.ts';
import { TaskView } from '../read/task.view.ts';
import { TaskConnection } from './task-connection.ts';

@Resolver(() => TaskView)
export class ChildrenResolver {
  constructor(
    private readonly lists: ListChildren,
    private readonly views: TaskViews,
  ) {}

  /** Guards run for root fields only, and a mutation that returns the task may need another scope. */
  @ResolveField(() => TaskConnection, { description: 'The tasks that were made from this one, newest first.' })
  async children(
    @CurrentCaller() caller: Caller,
    @Parent() { task_id: parentId }: TaskView,
    @First() first: number,
    @After() after: string | null | undefined,
  ): Promise<Connection<TaskView>> {
    assertScope(caller, 'tasks:read');
    if (typeof after === 'string' && !isTaskId(after)) {
      throw new ApiError('invalid_value', { param: 'after', message: 'after must be the id of a task.' });
    }
    const page = await this.lists.list({ apiKeyId: caller.apiKeyId, parentId, limit: first, after });
    const tasks = page.tasks.map((task) => this.views.forGraphql(task));
    return toConnection(tasks, (task) => task.task_id, { hasMore: page.hasMore, after });
  }
}
