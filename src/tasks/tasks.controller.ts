import { Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { CurrentCaller, Scope } from '../auth/access.ts';
import type { Caller } from '../auth/caller.ts';
import { KeyWatch } from '../auth/key-watch.ts';
import { MediaKindChoice } from '../models/media-kind.ts';
import { Config } from '../platform/config.ts';
import { parseListTasks, readWait } from './list/list-tasks.query.ts';
import { ListTasks } from './list/list-tasks.ts';
import { etagOf, matches, sequenceIn } from './task-etag.ts';
import { isFinal } from './task-status.ts';
import { TaskStatusChoice, TaskView } from './task.view.ts';
import { TaskListView } from './list/list.view.ts';
import { TaskViews } from './task-views.ts';
import { TasksService } from './tasks.service.ts';
import { hungUp } from './live/hung-up.ts';
import type { ShownTask } from './task.entity.ts';

/** Seconds a client may well wait before it asks again. */
export const POLL_AFTER_S = { image: 2, video: 5 } as const;

@ApiTags('Tasks')
@Controller('v1/tasks')
export class TasksController {
  constructor(
    private readonly config: Config,
    private readonly keys: KeyWatch,
    private readonly tasks: TasksService,
    private readonly lists: ListTasks,
    private readonly views: TaskViews,
  ) {}

  @Get()
  @Scope('tasks:read')
  @ApiOperation({ summary: 'List tasks, newest first', operationId: 'listTasks' })
  @ApiQuery({ name: 'limit', required: false, schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } })
  @ApiQuery({
    name: 'after',
    required: false,
    description: 'the `last_id` of the page before',
    schema: { type: 'string' },
  })
  @ApiQuery({ name: 'status', required: false, schema: { type: 'string', enum: [...TaskStatusChoice.values] } })
  @ApiQuery({ name: 'kind', required: false, schema: { type: 'string', enum: [...MediaKindChoice.values] } })
  @ApiQuery({ name: 'model', required: false, schema: { type: 'string' } })
  @ApiQuery({ name: 'created_after', required: false, description: 'unix seconds', schema: { type: 'integer' } })
  @ApiQuery({ name: 'created_before', required: false, description: 'unix seconds', schema: { type: 'integer' } })
  @ApiQuery({
    name: 'metadata',
    required: false,
    style: 'deepObject',
    explode: true,
    description: '`metadata[key]=value`: tasks that carry this pair',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
  })
  @ApiOkResponse({ type: TaskListView })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: Record<string, unknown>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TaskListView> {
    const { filter, limit, after } = parseListTasks(query);
    const page = await this.lists.list(caller.apiKeyId, filter, limit, after);
    reply.header('cache-control', 'no-store');
    return {
      object: 'list',
      data: page.tasks.map((task) => this.views.of(task)),
      has_more: page.hasMore,
      first_id: page.tasks.at(0)?.id ?? null,
      last_id: page.tasks.at(-1)?.id ?? null,
    };
  }

  @Get(':task_id')
  @Scope('tasks:read')
  @ApiOperation({ summary: 'Read a task', operationId: 'getTask' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiQuery({
    name: 'wait',
    required: false,
    description: 'seconds to wait for the end; with If-None-Match, for any change',
    schema: { type: 'integer', minimum: 0, maximum: 60 },
  })
  @ApiOkResponse({ type: TaskView })
  async find(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Query() query: Record<string, unknown>,
    @Headers() { authorization, 'if-none-match': ifNoneMatch }: IncomingHttpHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TaskView | undefined> {
    const waitS = readWait(query);
    const wait = (refused: AbortSignal) =>
      this.tasks.findWhenFinal(caller.apiKeyId, taskId, waitS, {
        changedFrom: sequenceIn(ifNoneMatch),
        gone: AbortSignal.any([hungUp(reply), refused]),
      });
    const task =
      waitS > 0 ? await this.keys.whileAdmitted(authorization, wait) : await this.tasks.find(caller.apiKeyId, taskId);
    const etag = this.describe(task, reply);
    if (!matches(ifNoneMatch, etag)) return this.views.of(task);
    reply.code(304);
    return undefined;
  }

  @Post(':task_id/cancel')
  @HttpCode(200)
  @Scope('tasks:cancel')
  @ApiOperation({ summary: 'Cancel a task', operationId: 'cancelTask' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiOkResponse({
    type: TaskView,
    description: 'the latest task',
    headers: { 'Cancel-Outcome': { schema: { type: 'string', enum: ['cancelled', 'already_final'] } } },
  })
  async cancel(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TaskView> {
    const { task, cancelled } = await this.tasks.cancel(caller.apiKeyId, taskId);
    reply.header('cancel-outcome', cancelled ? 'cancelled' : 'already_final');
    this.describe(task, reply);
    return this.views.of(task);
  }

  private describe(task: ShownTask, reply: FastifyReply): string {
    const etag = etagOf(task, this.config.fileUrlTtlS);
    reply.header('etag', etag).header('cache-control', 'no-store');
    if (!isFinal(task.status)) reply.header('retry-after', POLL_AFTER_S[task.kind]);
    return etag;
  }
}
