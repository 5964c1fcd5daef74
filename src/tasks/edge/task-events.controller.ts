import { Controller, Get, Head, Param, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { ChangedTasks } from '../sql/changed-tasks.ts';
import { lastEventIdOf, sendStream, STREAM_HEADERS } from '../live/send-stream.ts';
import { FollowTasks } from '../live/follow.ts';
import { OpenStreams } from '../live/open-streams.ts';
import { ResumePoint } from '../live/resume-point.ts';
import { isFinal, type ShownTask } from '../record/task.entity.ts';
import { TaskViews } from '../read/task-views.ts';
import { TasksService } from '../acts/tasks.service.ts';
import { Fails } from '../../platform/openapi/faults.ts';

const LAST_EVENT_ID = ApiHeader({
  name: 'Last-Event-ID',
  required: false,
  description: 'the last received `id:`, to resume',
});
const STREAM = { 'text/event-stream': { schema: { type: 'string' } } };

/** Changes of tasks as server-sent events, for clients without GraphQL. */
@ApiTags('Tasks')
@Controller('v1')
@RequireScope('tasks:read')
export class TaskEventsController {
  constructor(
    private readonly tasks: TasksService,
    private readonly live: FollowTasks,
    private readonly streams: OpenStreams,
    private readonly changed: ChangedTasks,
    private readonly views: TaskViews,
  ) {}

  /**
   * Declared before the GET, so that Fastify does not derive a HEAD route from the GET. A derived HEAD would read the
   * stream to its end.
   */
  @Head('tasks/:task_id/events')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Check that a task can be followed', operationId: 'headTaskEvents' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'the headers of the stream' })
  async headOfTask(@CurrentCaller() caller: Caller, @Param('task_id') taskId: string, @Res() reply: FastifyReply) {
    await this.tasks.find(caller.apiKeyId, taskId);
    return reply.headers(STREAM_HEADERS).send();
  }

  @Get('tasks/:task_id/events')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Follow a task', operationId: 'followTask' })
  @ApiParam({ name: 'task_id', schema: { type: 'string' } })
  @LAST_EVENT_ID
  @ApiOkResponse({
    description: 'states of the task, the current one first; the stream ends after the final one',
    content: STREAM,
  })
  @ApiNoContentResponse({ description: 'the final state was already sent' })
  async ofTask(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const lastEventId = lastEventIdOf(request);
    const seen = /^[0-9]{1,9}$/.test(lastEventId ?? '') ? Number(lastEventId) : undefined;
    const task = await this.tasks.find(caller.apiKeyId, taskId);
    if (seen !== undefined && isFinal(task.status) && task.sequence <= seen) {
      return reply.code(204).send(); // 204 makes an EventSource stop
    }
    const queue = await this.streams.track(request.headers.authorization, () =>
      this.live.follow(caller.apiKeyId, taskId, { after: seen, isPaced: true }),
    );
    return sendStream(reply, queue, (state) => ({ id: String(state.sequence), json: this.views.keptJson(state) }));
  }

  @Head('events')
  @ApiOperation({ summary: 'Check that tasks can be followed', operationId: 'headEvents' })
  @ApiOkResponse({ description: 'the headers of the stream' })
  headOfAll(@Res() reply: FastifyReply) {
    return reply.headers(STREAM_HEADERS).send();
  }

  @Get('events')
  @ApiOperation({ summary: 'Follow all tasks', operationId: 'followTasks' })
  @LAST_EVENT_ID
  @ApiOkResponse({
    description:
      'states of tasks: first those of the unfinished ones, then every change. After a resume, the tasks that ended meanwhile come first.',
    content: STREAM,
  })
  async ofAll(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const resumed = ResumePoint.parse(lastEventIdOf(request));
    const point = resumed ?? ResumePoint.at(await this.changed.nowMs());
    const queue = await this.streams.track(request.headers.authorization, () =>
      this.live.followAll(
        caller.apiKeyId,
        resumed ? { endedSinceMs: resumed.sinceMs, isKnown: (taskId) => resumed.includes(taskId) } : {},
      ),
    );
    const toEvent = (task: ShownTask) => {
      point.advance(task);
      return { id: point.toString(), json: this.views.keptJson(task) };
    };
    return sendStream(reply, queue, toEvent, point.toString());
  }
}
