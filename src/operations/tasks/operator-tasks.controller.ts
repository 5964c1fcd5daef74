import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, because, CurrentActor } from '../../auth/audit/actor.ts';
import { ApiError } from '../../errors/api-error.ts';
import { listOf, toList } from '../../platform/schema/list-of.ts';
import { TaskTimelineView } from '../../tasks/insight/timeline.view.ts';
import { ReasonInput } from '../views/reason.input.ts';
import { OperatorTaskView } from './operator-task.view.ts';
import {
  FailTaskInput,
  FailTasksInput,
  ListOperatorTasksQuery,
  ManyTasksInput,
  type OperatorTaskFilter,
  TasksChangedView,
} from './operator-tasks.inputs.ts';
import { OperatorTasks } from './operator-tasks.ts';
import { Fails } from '../../platform/openapi/faults.ts';

class OperatorTaskListView extends listOf(OperatorTaskView, 'oldest first') {}

/**
 * Refuses null in a filter that selects the tasks to change. In a filter of a list, null means that the field is left
 * out. Here it may come from a client that has lost the value of a variable, and would change more tasks than intended.
 * @throws ApiError invalid_type
 */
function withoutNulls(filter: OperatorTaskFilter): OperatorTaskFilter {
  const lost = Object.entries(filter).find(([, value]) => value === null);
  if (!lost) return filter;
  const param = `filter.${lost[0]}`;
  throw new ApiError('invalid_type', { param, message: `${param} is null: give a value, or leave it out.` });
}

const TaskId = ApiParam({ name: 'task_id', schema: { type: 'string' } });

@ApiTags('Operations')
@Controller('v1/operations/tasks')
export class OperatorTasksController {
  constructor(private readonly tasks: OperatorTasks) {}

  @Get()
  @RequireScope('operations:read')
  @ApiOperation({
    summary: 'List the unfinished tasks of all API keys, oldest first',
    operationId: 'listOperatorTasks',
  })
  @ApiOkResponse({ type: OperatorTaskListView })
  async list(@Query() { limit = 20, after, ...filter }: ListOperatorTasksQuery): Promise<OperatorTaskListView> {
    const { tasks, hasMore } = await this.tasks.list(filter, { limit, after: after ?? null });
    return toList(tasks, hasMore, ({ task_id }) => task_id);
  }

  @Post('cancel')
  @HttpCode(200)
  @RequireScope('operations:manage')
  @ApiOperation({ summary: 'Cancel unfinished tasks of all API keys', operationId: 'cancelOperatorTasks' })
  @ApiOkResponse({ type: TasksChangedView })
  cancelMany(@Body() { filter, reason }: ManyTasksInput, @CurrentActor() actor: Actor): Promise<TasksChangedView> {
    return this.tasks.actOnMany(withoutNulls(filter), { type: 'cancel' }, because(actor, reason));
  }

  @Post('release')
  @HttpCode(200)
  @RequireScope('operations:manage')
  @ApiOperation({ summary: 'Take running tasks away from their workers', operationId: 'releaseOperatorTasks' })
  @ApiOkResponse({ type: TasksChangedView })
  releaseMany(@Body() { filter, reason }: ManyTasksInput, @CurrentActor() actor: Actor): Promise<TasksChangedView> {
    return this.tasks.actOnMany(withoutNulls(filter), { type: 'release' }, because(actor, reason));
  }

  @Post('fail')
  @HttpCode(200)
  @RequireScope('operations:manage')
  @ApiOperation({ summary: 'End unfinished tasks with an error', operationId: 'failOperatorTasks' })
  @ApiOkResponse({ type: TasksChangedView })
  failMany(@Body() { filter, code, reason }: FailTasksInput, @CurrentActor() actor: Actor): Promise<TasksChangedView> {
    return this.tasks.actOnMany(withoutNulls(filter), { type: 'fail', code }, because(actor, reason));
  }

  @Get(':task_id')
  @TaskId
  @RequireScope('operations:read')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Read a task of any API key, without its content', operationId: 'getOperatorTask' })
  @ApiOkResponse({ type: OperatorTaskView })
  find(@Param('task_id') id: string): Promise<OperatorTaskView> {
    return this.tasks.find(id);
  }

  @Get(':task_id/timeline')
  @TaskId
  @RequireScope('operations:read')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Read what happened to a task of any API key', operationId: 'getOperatorTaskTimeline' })
  @ApiOkResponse({ type: TaskTimelineView })
  async timeline(@Param('task_id') id: string): Promise<TaskTimelineView> {
    return { object: 'list', data: await this.tasks.timeline(id), has_more: false };
  }

  @Post(':task_id/cancel')
  @TaskId
  @HttpCode(200)
  @RequireScope('operations:manage')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Cancel a task of any API key', operationId: 'cancelOperatorTask' })
  @ApiBody({ type: ReasonInput, required: false })
  @ApiOkResponse({ type: OperatorTaskView })
  cancel(
    @Param('task_id') id: string,
    @Body() { reason }: ReasonInput,
    @CurrentActor() actor: Actor,
  ): Promise<OperatorTaskView> {
    return this.tasks.act(id, { type: 'cancel' }, because(actor, reason));
  }

  @Post(':task_id/release')
  @TaskId
  @HttpCode(200)
  @RequireScope('operations:manage')
  @Fails('task_not_found', 'task_not_running')
  @ApiOperation({ summary: 'Take a running task away from its worker', operationId: 'releaseOperatorTask' })
  @ApiBody({ type: ReasonInput, required: false })
  @ApiOkResponse({ type: OperatorTaskView })
  release(
    @Param('task_id') id: string,
    @Body() { reason }: ReasonInput,
    @CurrentActor() actor: Actor,
  ): Promise<OperatorTaskView> {
    return this.tasks.act(id, { type: 'release' }, because(actor, reason));
  }

  @Post(':task_id/fail')
  @TaskId
  @HttpCode(200)
  @RequireScope('operations:manage')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'End a task with an error', operationId: 'failOperatorTask' })
  @ApiOkResponse({ type: OperatorTaskView })
  fail(
    @Param('task_id') id: string,
    @Body() { code, reason }: FailTaskInput,
    @CurrentActor() actor: Actor,
  ): Promise<OperatorTaskView> {
    return this.tasks.act(id, { type: 'fail', code }, because(actor, reason));
  }
}
