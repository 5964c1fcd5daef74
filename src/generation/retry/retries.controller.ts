import { Body, Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, CountsAs, type GuardedRequest, RequireScope } from '../../auth/access/access.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { CREATION_FAULTS } from '../accept/creation-faults.ts';
import { acceptanceHeaders } from '../accept/generations.service.ts';
import { RetriesService } from './retries.service.ts';
import { RetryTaskInput } from './retry-task.input.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { CREATED_HEADERS, TakesIdempotencyKey } from '../../platform/openapi/headers.ts';

type RetryRequest = FastifyRequest<{ Headers: { 'idempotency-key'?: string } }> & GuardedRequest;

@ApiTags('Tasks')
@Controller('v1/tasks')
export class RetriesController {
  constructor(private readonly retries: RetriesService) {}

  @Post(':task_id/retry')
  @RequireScope('generations:write')
  @CountsAs('create')
  @Fails('task_not_found', 'task_unfinished', ...CREATION_FAULTS)
  @ApiOperation({ summary: 'Make a final task again, or a variation of it', operationId: 'retryTask' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @TakesIdempotencyKey()
  @ApiCreatedResponse({ type: TaskView, headers: CREATED_HEADERS })
  async retry(
    @Req() request: RetryRequest,
    @Param('task_id') taskId: string,
    @Body() changes: RetryTaskInput,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const idempotencyKey = request.headers['idempotency-key'];
    const accepted = await this.retries.retry(callerOf(request), taskId, changes, { idempotencyKey });
    reply.headers(acceptanceHeaders(accepted));
    return accepted.json();
  }
}
