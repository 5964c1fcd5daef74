import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, Scope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { TaskTimelineView } from '../insight/timeline.view.ts';
import { TimelinesService } from '../insight/timelines.service.ts';
import { Fails } from '../../platform/openapi/faults.ts';

@ApiTags('Tasks')
@Controller('v1/tasks')
export class TimelinesController {
  constructor(private readonly timelines: TimelinesService) {}

  @Get(':task_id/timeline')
  @Scope('tasks:read')
  @Header('cache-control', 'no-store')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Read what happened to a task', operationId: 'getTaskTimeline' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiOkResponse({ type: TaskTimelineView })
  async find(@CurrentCaller() caller: Caller, @Param('task_id') taskId: string): Promise<TaskTimelineView> {
    return { object: 'list', data: await this.timelines.of(caller.apiKeyId, taskId), has_more: false };
  }
}
