import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { TaskEstimateView } from '../insight/estimate.view.ts';
import { EstimatesService } from '../insight/estimates.service.ts';
import { TaskTimelineView } from '../insight/timeline.view.ts';
import { TimelinesService } from '../insight/timelines.service.ts';

@ApiTags('Tasks')
@Controller('v1/tasks')
export class TaskInsightController {
  constructor(
    private readonly estimates: EstimatesService,
    private readonly timelines: TimelinesService,
  ) {}

  @Get(':task_id/estimate')
  @RequireScope('tasks:read')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Estimate when a task starts and ends', operationId: 'getTaskEstimate' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiOkResponse({ type: TaskEstimateView })
  estimate(@CurrentCaller() caller: Caller, @Param('task_id') taskId: string): Promise<TaskEstimateView> {
    return this.estimates.of(caller.apiKeyId, taskId);
  }

  @Get(':task_id/timeline')
  @RequireScope('tasks:read')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Read what happened to a task', operationId: 'getTaskTimeline' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiOkResponse({ type: TaskTimelineView })
  async timeline(@CurrentCaller() caller: Caller, @Param('task_id') taskId: string): Promise<TaskTimelineView> {
    return { object: 'list', data: await this.timelines.of(caller.apiKeyId, taskId), has_more: false };
  }
}
