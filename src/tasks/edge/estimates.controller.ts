import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, Scope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { TaskEstimateView } from '../insight/estimate.view.ts';
import { EstimatesService } from '../insight/estimates.service.ts';
import { Fails } from '../../platform/openapi/faults.ts';

@ApiTags('Tasks')
@Controller('v1/tasks')
export class EstimatesController {
  constructor(private readonly estimates: EstimatesService) {}

  @Get(':task_id/estimate')
  @Scope('tasks:read')
  @Header('cache-control', 'no-store')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Estimate when a task starts and ends', operationId: 'getTaskEstimate' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiOkResponse({ type: TaskEstimateView })
  find(@CurrentCaller() caller: Caller, @Param('task_id') taskId: string): Promise<TaskEstimateView> {
    return this.estimates.of(caller.apiKeyId, taskId);
  }
}
