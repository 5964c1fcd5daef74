import { Args, Mutation, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { assertScope, CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import { type Actor, because, CurrentActor } from '../../auth/audit/actor.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { type TaskErrorCode, TaskErrorCodeChoice } from '../../tasks/record/task-error.ts';
import { TaskMomentView } from '../../tasks/insight/timeline.view.ts';
import { Reason } from '../views/reason.arg.ts';
import { OperatorTaskView } from './operator-task.view.ts';
import { OperatorTaskFilter, TasksChangedView } from './operator-tasks.inputs.ts';
import { OperatorTasks } from './operator-tasks.ts';

const TaskId = (): ParameterDecorator => Args('taskId', { type: () => String, description: 'identifier of the task' });
const Code = (): ParameterDecorator =>
  Args('code', { type: () => TaskErrorCodeChoice.graphql, description: 'the error code that the owner gets' });
const Filter = (): ParameterDecorator =>
  Args('filter', {
    type: () => OperatorTaskFilter,
    description: 'which unfinished tasks, by at least one condition; only the oldest 10,000 of them are taken',
  });

@Resolver(() => OperatorTaskView)
@RequireScope('operations:manage')
export class OperatorTasksResolver {
  constructor(private readonly service: OperatorTasks) {}

  /**
   * Checks the scope itself. Guards run for root fields only, and a mutation that returns a task needs another scope.
   */
  @ResolveField(() => [TaskMomentView], {
    description: 'What happened to the task, oldest first, at most 200 entries.',
  })
  timeline(@CurrentCaller() caller: Caller, @Parent() task: OperatorTaskView): Promise<TaskMomentView[]> {
    assertScope(caller, 'operations:read');
    return this.service.timeline(task.task_id);
  }

  @Mutation(() => OperatorTaskView, { description: 'Cancels a task of any API key.' })
  cancelOperatorTask(
    @TaskId() id: string,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<OperatorTaskView> {
    return this.service.act(id, { type: 'cancel' }, because(actor, reason));
  }

  @Mutation(() => OperatorTaskView, { description: 'Takes a running task away from its worker.' })
  releaseOperatorTask(
    @TaskId() id: string,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<OperatorTaskView> {
    return this.service.act(id, { type: 'release' }, because(actor, reason));
  }

  @Mutation(() => OperatorTaskView, { description: 'Ends a task with an error.' })
  failOperatorTask(
    @TaskId() id: string,
    @Code() code: TaskErrorCode,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<OperatorTaskView> {
    return this.service.act(id, { type: 'fail', code }, because(actor, reason));
  }

  @Mutation(() => TasksChangedView, { description: 'Cancels unfinished tasks of all API keys.' })
  cancelOperatorTasks(
    @Filter() filter: OperatorTaskFilter,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<TasksChangedView> {
    return this.service.actOnMany(filter, { type: 'cancel' }, because(actor, reason));
  }

  @Mutation(() => TasksChangedView, { description: 'Takes running tasks away from their workers.' })
  releaseOperatorTasks(
    @Filter() filter: OperatorTaskFilter,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<TasksChangedView> {
    return this.service.actOnMany(filter, { type: 'release' }, because(actor, reason));
  }

  @Mutation(() => TasksChangedView, { description: 'Ends unfinished tasks with an error.' })
  failOperatorTasks(
    @Filter() filter: OperatorTaskFilter,
    @Code() code: TaskErrorCode,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<TasksChangedView> {
    return this.service.actOnMany(filter, { type: 'fail', code }, because(actor, reason));
  }
}
