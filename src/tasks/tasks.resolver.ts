import { Args, Int, Mutation, Query, Resolver, Subscription } from '@nestjs/graphql';
import { CurrentCaller, Scope } from '../auth/access.ts';
import type { Caller } from '../auth/caller.ts';
import { ApiError } from '../errors/api-error.ts';
import { After, type Connection, connectionOf, First, toConnection } from '../platform/graphql/connection.ts';
import { ListTasks } from './list/list-tasks.ts';
import type { LiveQueue } from './live/live-queue.ts';
import { FollowTasks } from './live/follow.ts';
import { TaskFilterInput } from './list/task-filter.ts';
import { isTaskId } from './task-id.ts';
import { TaskViews } from './task-views.ts';
import type { ShownTask } from './task.entity.ts';
import { TaskView } from './task.view.ts';
import { TasksService } from './tasks.service.ts';

const TaskConnection = connectionOf(TaskView, 'Task');
type Maybe<T> = T | null | undefined;

const TaskId = (): ParameterDecorator => Args('taskId', { type: () => String, description: 'identifier of the task' });
const Filter = (): ParameterDecorator =>
  Args('filter', { type: () => TaskFilterInput, nullable: true, description: 'which tasks; all when left out' });

@Resolver()
export class TasksResolver {
  constructor(
    private readonly service: TasksService,
    private readonly lists: ListTasks,
    private readonly live: FollowTasks,
    private readonly views: TaskViews,
  ) {}

  @Query(() => TaskView, { description: 'One task; an unknown one is the error task_not_found.' })
  @Scope('tasks:read')
  async task(@CurrentCaller() caller: Caller, @TaskId() taskId: string): Promise<TaskView> {
    return this.views.of(await this.service.find(caller.apiKeyId, taskId));
  }

  @Query(() => TaskConnection, { description: 'The tasks of your API key, newest first.' })
  @Scope('tasks:read')
  async tasks(
    @CurrentCaller() caller: Caller,
    @First() first: number,
    @After() after: Maybe<string>,
    @Filter() filter?: TaskFilterInput,
  ): Promise<Connection<TaskView>> {
    if (typeof after === 'string' && !isTaskId(after)) {
      throw new ApiError('invalid_value', { param: 'after', message: 'after must be the id of a task.' });
    }
    const page = await this.lists.list(caller.apiKeyId, filter?.toFilter() ?? {}, first, after ?? undefined);
    const tasks = page.tasks.map((task) => this.views.of(task));
    return toConnection(tasks, (task) => task.task_id, { hasMore: page.hasMore, after });
  }

  @Mutation(() => TaskView, { description: 'Ends an unfinished task; a finished one stays as it is.' })
  @Scope('tasks:cancel')
  async cancelTask(@CurrentCaller() caller: Caller, @TaskId() taskId: string): Promise<TaskView> {
    const { task } = await this.service.cancel(caller.apiKeyId, taskId);
    return this.views.of(task);
  }

  @Subscription(() => TaskView, {
    description: 'A task from its present state to its final one; completes after that.',
    resolve: shown,
  })
  @Scope('tasks:read')
  taskUpdated(@CurrentCaller() caller: Caller, @TaskId() taskId: string): Promise<LiveQueue> {
    return this.live.follow(caller.apiKeyId, taskId);
  }

  @Subscription(() => TaskView, {
    description:
      'All tasks of your API key: first the unfinished ones as they stand, then every change. A slow reader gets the newest state of each task, and every final one.',
    resolve: shown,
  })
  @Scope('tasks:read')
  tasksUpdated(
    @CurrentCaller() caller: Caller,
    @Args('since', {
      type: () => Int,
      nullable: true,
      description: 'first also what has ended since then, unix seconds: to resume after an interruption',
    })
    since: Maybe<number>,
    @Filter() filter?: TaskFilterInput,
  ): Promise<LiveQueue> {
    return this.live.followAll(caller.apiKeyId, {
      filter: filter?.toFilter() ?? {},
      ...(typeof since === 'number' && { endedSinceMs: since * 1000 }),
    });
  }
}

/** Nest calls it with the resolver as `this`, at the moment of telling: links are signed then. */
function shown(this: TasksResolver, task: ShownTask): TaskView {
  return this['views'].of(task);
}
