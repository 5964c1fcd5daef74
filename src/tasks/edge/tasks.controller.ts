import { Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { KeyWatch } from '../../auth/credentials/key-watch.ts';
import { Config } from '../../platform/config/config.ts';
import { matches } from '../../platform/http/request.ts';
import { waitingOnPurpose } from '../../platform/http/observe-requests.ts';
import { DeleteTasks } from '../acts/delete-tasks.ts';
import { FindTaskQuery } from './find-task.query.ts';
import { ListAnswers } from '../read/list-tasks.ts';
import { DEFAULT_LIMIT, ListTasksQuery } from './list-tasks.query.ts';
import { hungUp } from '../live/waits.ts';
import { DeletedTaskView, etagOf, sequenceIn, TaskView, toDeletedTaskView, TaskListView } from '../read/task.view.ts';
import { isFinal, POLL_AFTER_S, type ShownTask } from '../record/task.entity.ts';
import { TaskViews } from '../read/task-views.ts';
import { TasksService } from '../acts/tasks.service.ts';
import { headerRefs } from '../../platform/openapi/headers.ts';
import { Fails } from '../../platform/openapi/faults.ts';

@ApiTags('Tasks')
@Controller('v1/tasks')
export class TasksController {
  constructor(
    private readonly config: Config,
    private readonly keys: KeyWatch,
    private readonly tasks: TasksService,
    private readonly deletes: DeleteTasks,
    private readonly lists: ListAnswers,
    private readonly views: TaskViews,
  ) {}

  @Get()
  @RequireScope('tasks:read')
  @ApiOperation({ summary: 'List tasks', operationId: 'listTasks' })
  @ApiOkResponse({ type: TaskListView })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: ListTasksQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { limit = DEFAULT_LIMIT, after, order = 'desc', ...filter } = query;
    const json = await this.lists.json(caller.apiKeyId, filter, { limit, after, order });
    reply.type('application/json; charset=utf-8');
    return json;
  }

  @Get(':task_id')
  @RequireScope('tasks:read')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Read a task', operationId: 'getTask' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'the `ETag` of an earlier answer' })
  @ApiOkResponse({ type: TaskView, headers: headerRefs('ETag', 'Retry-After') })
  @ApiResponse({
    status: 304,
    description: 'the task has not changed since the answer that `If-None-Match` names',
    headers: headerRefs('ETag', 'Retry-After'),
  })
  async find(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Query() { wait = 0 }: FindTaskQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | undefined> {
    const ifNoneMatch = reply.request.headers['if-none-match'];
    const findWhenFinal = (refused: AbortSignal) =>
      this.tasks.findWhenFinal(caller.apiKeyId, taskId, wait, {
        changedFrom: sequenceIn(ifNoneMatch),
        gone: AbortSignal.any([hungUp(reply), refused]),
      });
    const task =
      wait > 0
        ? await waitingOnPurpose(reply.request, 'long_poll', () =>
            this.keys.whileAdmitted(reply.request.headers.authorization, findWhenFinal, 'tasks:read'),
          )
        : await this.tasks.find(caller.apiKeyId, taskId);
    const etag = this.describe(task, reply);
    if (!matches(ifNoneMatch, etag)) {
      reply.type('application/json; charset=utf-8');
      return isFinal(task.status) ? this.views.keptJson(task) : this.views.json(task);
    }
    reply.code(304);
    return undefined;
  }

  @Post(':task_id/cancel')
  @HttpCode(200)
  @RequireScope('tasks:cancel')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Cancel a task', operationId: 'cancelTask' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiOkResponse({
    type: TaskView,
    description: 'the task after the request',
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

  @Delete(':task_id')
  @RequireScope('tasks:cancel')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Delete a task and its files', operationId: 'deleteTask' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiOkResponse({ type: DeletedTaskView })
  async delete(@CurrentCaller() caller: Caller, @Param('task_id') taskId: string): Promise<DeletedTaskView> {
    await this.deletes.delete(caller.apiKeyId, taskId);
    return toDeletedTaskView(taskId);
  }

  private describe(task: ShownTask, reply: FastifyReply): string {
    const etag = etagOf(task, this.config.fileUrlTtlS);
    reply.header('etag', etag);
    if (!isFinal(task.status)) reply.header('retry-after', POLL_AFTER_S[task.kind]);
    return etag;
  }
}
