import { Body, Controller, Delete, Param, Put } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CountsAs, RequireScope } from '../../auth/access/access.ts';
import { type Actor, CurrentActor } from '../../auth/audit/actor.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { KeepTasks } from '../acts/keep-tasks.ts';
import { TaskViews } from '../read/task-views.ts';
import { TaskView } from '../read/task.view.ts';
import { KeepInput } from './keep.inputs.ts';

@ApiTags('Tasks')
@Controller('v1/tasks/:task_id/keep')
export class KeepTasksController {
  constructor(
    private readonly keeps: KeepTasks,
    private readonly views: TaskViews,
  ) {}

  @Put()
  @RequireScope('generations:write')
  @CountsAs('create')
  @Fails('task_not_found', 'task_unfinished', 'kept_quota_exceeded')
  @ApiOperation({ summary: 'Keep a final task and its files', operationId: 'keepTask' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiBody({ type: KeepInput, required: false })
  @ApiOkResponse({ type: TaskView })
  async keep(
    @Param('task_id') taskId: string,
    @Body() { collection = null }: KeepInput,
    @CurrentActor() actor: Actor,
  ): Promise<TaskView> {
    return this.views.of(await this.keeps.keep(actor, { taskId, output: null }, collection));
  }

  @Delete()
  @RequireScope('generations:write')
  @CountsAs('create')
  @Fails('task_not_found', 'task_unfinished')
  @ApiOperation({ summary: 'Stop keeping a task: it is deleted when its retention ends', operationId: 'unkeepTask' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiOkResponse({ type: TaskView })
  async giveUp(@Param('task_id') taskId: string, @CurrentActor() actor: Actor): Promise<TaskView> {
    return this.views.of(await this.keeps.giveUp(actor, { taskId, output: null }));
  }
}
