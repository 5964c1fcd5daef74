import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { assertNotCoerced, selectionOf } from '../acts/cancel-selection.ts';
import { CancelTasksInput } from '../acts/cancel-tasks.input.ts';
import { CancelTasks } from '../acts/cancel-tasks.ts';
import { CancelCountsView, toCounts } from '../acts/task-cancel.view.ts';

@ApiTags('Tasks')
@Controller('v1/tasks/cancel')
export class CancelTasksController {
  constructor(private readonly cancels: CancelTasks) {}

  @Post()
  @HttpCode(200)
  @RequireScope('tasks:cancel')
  @ApiOperation({ summary: 'Cancel tasks by their ids or by a filter', operationId: 'cancelTasks' })
  @ApiOkResponse({ type: CancelCountsView })
  async cancel(
    @CurrentCaller() caller: Caller,
    @Body() input: CancelTasksInput,
    @Req() { body }: FastifyRequest<{ Body: { filter: object } }>,
  ): Promise<CancelCountsView> {
    if (input.filter) assertNotCoerced(body.filter, input.filter);
    return toCounts(await this.cancels.cancel(caller.apiKeyId, selectionOf(input)));
  }
}
