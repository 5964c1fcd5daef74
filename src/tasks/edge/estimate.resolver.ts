import { Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { assertScope, CurrentCaller } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { TaskView } from '../read/task.view.ts';
import { TaskEstimateView } from '../insight/estimate.view.ts';
import { EstimatesService } from '../insight/estimates.service.ts';

@Resolver(() => TaskView)
export class EstimateResolver {
  constructor(private readonly estimates: EstimatesService) {}

  /** Guards run for root fields only, and a mutation that returns the task may need another scope. */
  @ResolveField(() => TaskEstimateView, { description: 'When the task will probably start and end.' })
  estimate(@CurrentCaller() caller: Caller, @Parent() task: TaskView): Promise<TaskEstimateView> {
    assertScope(caller, 'tasks:read');
    return this.estimates.of(caller.apiKeyId, task.task_id);
  }
}
