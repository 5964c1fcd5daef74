import { Args, ResolveField, Resolver } from '@nestjs/graphql';
import { After, type Connection, connectionOf, First, toConnection } from '../../platform/graphql/connection.ts';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { OperationsView } from '../views/operations.view.ts';
import { OperatorTaskView } from './operator-task.view.ts';
import { ListOperatorTasksQuery, OperatorTaskFilter } from './operator-tasks.inputs.ts';
import { OperatorTasks } from './operator-tasks.ts';

const OperatorTaskConnection = connectionOf(OperatorTaskView, 'OperatorTask');

@Resolver(() => OperationsView)
export class WatchedTasksResolver {
  constructor(private readonly service: OperatorTasks) {}

  @ResolveField(() => OperatorTaskConnection, { description: 'The unfinished tasks of all API keys, oldest first.' })
  async tasks(
    @First() first: number,
    @After() after: string | null | undefined,
    @Args('filter', { type: () => OperatorTaskFilter, nullable: true, description: 'all when left out' })
    filter: OperatorTaskFilter | null | undefined,
  ): Promise<Connection<OperatorTaskView>> {
    checkArguments(ListOperatorTasksQuery, { after });
    const { tasks, hasMore } = await this.service.list(filter ?? {}, { limit: first, after: after ?? null });
    return toConnection(tasks, ({ task_id }) => task_id, { hasMore, after });
  }

  @ResolveField(() => OperatorTaskView, {
    description: 'A task of any API key, also a final one. An unknown id is the error task_not_found.',
  })
  task(
    @Args('taskId', { type: () => String, description: 'identifier of the task' }) id: string,
  ): Promise<OperatorTaskView> {
    return this.service.find(id);
  }
}
