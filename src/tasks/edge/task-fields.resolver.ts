import { Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { assertScope, CurrentCaller } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { After, type Connection, First, toConnection } from '../../platform/graphql/connection.ts';
import { TaskEstimateView } from '../insight/estimate.view.ts';
import { EstimatesService } from '../insight/estimates.service.ts';
import { TaskMomentView } from '../insight/timeline.view.ts';
import { TimelinesService } from '../insight/timelines.service.ts';
import { TaskViews } from '../read/task-views.ts';
import { TaskView, TaskConnection } from '../read/task.view.ts';
import { assertTaskId } from '../record/task-id.ts';
import { ListChildren } from '../sql/list-children.ts';

/**
 * The fields of a task that need a read of their own. Each checks its scope, because guards run for root fields only,
 * and a mutation that returns the task may need another scope.
 */
@Resolver(() => TaskView)
export class TaskFieldsResolver {
  constructor(
    private readonly estimates: EstimatesService,
    private readonly timelines: TimelinesService,
    private readonly lists: ListChildren,
    private readonly views: TaskViews,
  ) {}

  @ResolveField(() => TaskEstimateView, { description: 'When the task will probably start and end.' })
  estimate(@CurrentCaller() caller: Caller, @Parent() task: TaskView): Promise<TaskEstimateView> {
    assertScope(caller, 'tasks:read');
    return this.estimates.of(caller.apiKeyId, task.task_id);
  }

  @ResolveField(() => [TaskMomentView], {
    description: 'What happened to the task, oldest first, at most 200 entries.',
  })
  timeline(@CurrentCaller() caller: Caller, @Parent() task: TaskView): Promise<TaskMomentView[]> {
    assertScope(caller, 'tasks:read');
    return this.timelines.of(caller.apiKeyId, task.task_id);
  }

  @ResolveField(() => TaskConnection, { description: 'The tasks that were made from this one, newest first.' })
  async children(
    @CurrentCaller() caller: Caller,
    @Parent() { task_id: parentId }: TaskView,
    @First() first: number,
    @After() after: string | null | undefined,
  ): Promise<Connection<TaskView>> {
    assertScope(caller, 'tasks:read');
    assertTaskId('after', after);
    const page = await this.lists.list({ apiKeyId: caller.apiKeyId, parentId, limit: first, after });
    const tasks = page.tasks.map((task) => this.views.forGraphql(task));
    return toConnection(tasks, (task) => task.task_id, { hasMore: page.hasMore, after });
  }
}
