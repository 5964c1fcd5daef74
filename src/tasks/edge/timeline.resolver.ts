import { Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { assertScope, CurrentCaller } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { TaskView } from '../read/task.view.ts';
import { TaskMomentView } from '../insight/timeline.view.ts';
import { TimelinesService } from '../insight/timelines.service.ts';

@Resolver(() => TaskView)
export class TimelineResolver {
  constructor(private readonly timelines: TimelinesService) {}

  /** Guards run for root fields only, and a mutation that returns the task may need another scope. */
  @ResolveField(() => [TaskMomentView], {
    description: 'What happened to the task, oldest first, at most 200 entries.',
  })
  timeline(@CurrentCaller() caller: Caller, @Parent() task: TaskView): Promise<TaskMomentView[]> {
    assertScope(caller, 'tasks:read');
    return this.timelines.of(caller.apiKeyId, task.task_id);
  }
}
