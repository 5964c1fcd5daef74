import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { CountTasks } from '../sql/count-tasks.ts';
import { TaskCountsView } from './task-counts.view.ts';
import { TaskFilter } from '../record/task-filter.ts';

@ApiTags('Tasks')
@Controller('v1/tasks/counts')
export class TaskCountsController {
  constructor(private readonly counts: CountTasks) {}

  @Get()
  @RequireScope('tasks:read')
  @ApiOperation({ summary: 'Count tasks by status', operationId: 'countTasks' })
  @ApiOkResponse({ type: TaskCountsView })
  count(@CurrentCaller() caller: Caller, @Query() filter: TaskFilter): Promise<TaskCountsView> {
    return this.counts.count(caller.apiKeyId, filter);
  }
}
