import { Args, Mutation, Query, Resolver, Subscription } from '@nestjs/graphql';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { After, type Connection, First, toConnection } from '../../platform/graphql/connection.ts';
import type { PullQueue } from '../../platform/run/pull-queue.ts';
import { LongScalar } from '../../platform/schema/long-scalar.ts';
import { DeleteTasks } from '../acts/delete-tasks.ts';
import { FollowTasks } from '../live/follow.ts';
import { TaskFilter } from '../record/task-filter.ts';
import { ListTasks } from '../read/list-tasks.ts';
import { assertTaskId } from '../record/task-id.ts';
import { TaskViews } from '../read/task-views.ts';
import { listAnew } from '../../platform/observe/logging/request-context.ts';
import type { ShownTask } from '../record/task.entity.ts';
import { DeletedTaskView, TaskView, toDeletedTaskView, TaskConnection } from '../read/task.view.ts';
import { TasksService } from '../acts/tasks.service.ts';

const TaskId = (): ParameterDecorator => Args('taskId', { type: () => String, description: 'identifier of the task' });
const Filter = (): ParameterDecorator =>
  Args('filter', { type: () => TaskFilter, nullable: true, description: 'selects tasks; all when left out' });

@Resolver()
export class TasksResolver {
  constructor(
    private readonly service: TasksService,
    private readonly lists: ListTasks,
    private readonly live: FollowTasks,
    private readonly deletes: DeleteTasks,
    readonly views: TaskViews,
  ) {}

  @Query(() => TaskView, { description: 'One task. An unknown id is the error task_not_found.' })
  @RequireScope('tasks:read')
  async task(@CurrentCaller() caller: Caller, @TaskId() taskId: string): Promise<TaskView> {
    return this.views.forGraphql(await this.service.find(caller.apiKeyId, taskId));
  }

  @Query(() => TaskConnection, { description: 'The tasks of your API key, newest first.' })
  @RequireScope('tasks:read')
  async tasks(
    @CurrentCaller() caller: Caller,
    @First() first: number,
    @After() after: string | null | undefined,
    @Filter() filter?: TaskFilter,
  ): Promise<Connection<TaskView>> {
    assertTaskId('after', after);
    const page = await this.lists.list(caller.apiKeyId, filter ?? {}, { limit: first, after });
    const tasks = page.tasks.map((task) => this.views.forGraphql(task));
    return toConnection(tasks, (task) => task.task_id, { hasMore: page.hasMore, after });
  }

  @Mutation(() => TaskView, { description: 'Cancels an unfinished task; a finished one stays unchanged.' })
  @RequireScope('tasks:cancel')
  async cancelTask(@CurrentCaller() caller: Caller, @TaskId() taskId: string): Promise<TaskView> {
    const { task } = await this.service.cancel(caller.apiKeyId, taskId);
    return this.views.forGraphql(task);
  }

  @Mutation(() => DeletedTaskView, {
    description: 'Deletes a task and its files. An unfinished task is cancelled first.',
  })
  @RequireScope('tasks:cancel')
  async deleteTask(@CurrentCaller() caller: Caller, @TaskId() taskId: string): Promise<DeletedTaskView> {
    await this.deletes.delete(caller.apiKeyId, taskId);
    return toDeletedTaskView(taskId);
  }

  @Subscription(() => TaskView, {
    description: 'One task, from its current state to its final one; then the subscription completes.',
    resolve: toView,
  })
  @RequireScope('tasks:read')
  taskUpdated(@CurrentCaller() caller: Caller, @TaskId() taskId: string): Promise<PullQueue<ShownTask>> {
    return this.live.follow(caller.apiKeyId, taskId, { isPaced: true });
  }

  @Subscription(() => TaskView, {
    description:
      'All tasks of your API key: first the unfinished ones in their current state, then every change. A slow subscriber gets the latest state of each task and every final state.',
    resolve: toView,
  })
  @RequireScope('tasks:read')
  tasksUpdated(
    @CurrentCaller() caller: Caller,
    @Args('since', {
      type: () => LongScalar,
      nullable: true,
      description: 'unix seconds; first also the tasks that have ended since then, to resume after an interruption',
    })
    since: number | null | undefined,
    @Filter() filter?: TaskFilter,
  ): Promise<PullQueue<ShownTask>> {
    return this.live.followAll(caller.apiKeyId, {
      filter: filter ?? {},
      ...(typeof since === 'number' && { endedSinceMs: since * 1000 }),
    });
  }
}

/**
 * Nest calls this function with the resolver as its `this` when an event is sent, so file links are signed at that
 * moment.
 */
function toView(this: TasksResolver, task: ShownTask): TaskView {
  listAnew();
  return this.views.forGraphql(task);
}
