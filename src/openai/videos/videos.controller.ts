import { Controller, Delete, Get, Head, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, CountsAs, CurrentCaller, type GuardedRequest, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { CREATION_FAULTS } from '../../generation/accept/creation-faults.ts';
import { IgnoresUnknownQuery } from '../../platform/http/query-parameters.guard.ts';
import { AcceptsBody } from '../../platform/http/multipart/accepts-body.ts';
import type { List } from '../../platform/schema/list-of.ts';
import { DeleteTasks } from '../../tasks/acts/delete-tasks.ts';
import { isFinal } from '../../tasks/record/task.entity.ts';
import { Fields } from '../request/fields.ts';
import { ModelIds } from '../request/model-ids.ts';
import { readBody } from '../request/request-body.ts';
import { DELETED_VIDEO, REMIX_BODY, VIDEO_BODY, VIDEO_BYTES } from '../request/request-schemas.ts';
import { VideoContent } from './video-content.ts';
import { readVideoPage, textOf } from './video-page.ts';
import { translateVideo } from './video-request.ts';
import { VideoListView, VideoView } from './video.view.ts';
import { type CreatedVideo, VideosService } from './videos.service.ts';
import { Fails } from '../../platform/openapi/faults.ts';

type VideosHttpRequest = FastifyRequest & GuardedRequest;

const VIDEOS = '/v1/videos';
const REMIX = '/v1/videos/{id}/remix';
/** The limit of a JSON body. An input_reference may be a data: URL. */
const JSON_BYTES = 30 * 1024 * 1024;
/** The interval at which OpenAI's Python client polls. */
const POLL_AFTER_MS = 5_000;

const Id = ApiParam({ name: 'id', schema: { type: 'string' } });

/** OpenAI's video routes, for clients that are built for them. */
@ApiTags('OpenAI-compatible')
@IgnoresUnknownQuery()
@Controller('v1/videos')
export class VideosController {
  constructor(
    private readonly models: ModelIds,
    private readonly videos: VideosService,
    private readonly deletes: DeleteTasks,
    private readonly content: VideoContent,
  ) {}

  @Post()
  @AcceptsBody({ multipart: true, jsonBytes: JSON_BYTES })
  @HttpCode(200)
  @RequireScope('generations:write')
  @CountsAs('create')
  @ApiBody(VIDEO_BODY)
  @Fails(...CREATION_FAULTS)
  @ApiOperation({ summary: 'Create a video, as at OpenAI', operationId: 'openaiCreateVideo' })
  @ApiOkResponse({ type: VideoView })
  async create(@Req() request: VideosHttpRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<VideoView> {
    const body = await readBody(request, VIDEOS);
    try {
      const translated = translateVideo(body, this.models.of(callerOf(request)));
      const call = { caller: callerOf(request), reply, path: VIDEOS, waits: false, fingerprint: body.fingerprint };
      return withHeaders(reply, await this.videos.create(call, translated));
    } finally {
      await body.dispose();
    }
  }

  @Get()
  @RequireScope('tasks:read')
  @ApiOperation({ summary: 'List videos, as at OpenAI', operationId: 'openaiListVideos' })
  @ApiOkResponse({ type: VideoListView })
  list(@CurrentCaller() caller: Caller, @Query() query: Record<string, unknown>): Promise<List<VideoView>> {
    return this.videos.list(caller, readVideoPage(query));
  }

  @Get(':id')
  @Id
  @RequireScope('tasks:read')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Read a video, as at OpenAI', operationId: 'openaiGetVideo' })
  @ApiOkResponse({ type: VideoView })
  async find(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<VideoView> {
    const task = await this.videos.find(caller, id);
    if (!isFinal(task.status)) reply.header('openai-poll-after-ms', String(POLL_AFTER_MS));
    return this.videos.show(task);
  }

  /**
   * This route is declared before GET, because the HEAD route that Fastify derives from a GET would read the whole file
   * to count its bytes.
   */
  @Head(':id/content')
  @Id
  @RequireScope('tasks:read')
  @Fails('task_not_found', 'variant_not_available', 'result_not_ready', 'file_expired', 'range_not_satisfiable')
  @ApiOperation({ summary: 'Describe the file of a video', operationId: 'openaiHeadVideoContent' })
  @ApiOkResponse({ description: 'the headers of the file' })
  head(@Req() request: VideosHttpRequest, @Param('id') id: string, @Res() reply: FastifyReply): Promise<void> {
    return this.download(request, id, reply);
  }

  @Get(':id/content')
  @Id
  @RequireScope('tasks:read')
  @Fails('task_not_found', 'variant_not_available', 'result_not_ready', 'file_expired', 'range_not_satisfiable')
  @ApiOperation({ summary: 'Download a video or its thumbnail, as at OpenAI', operationId: 'openaiGetVideoContent' })
  @ApiOkResponse({ description: 'the bytes; `Range` is supported', content: VIDEO_BYTES })
  @ApiResponse({ status: 206, description: 'the requested range of bytes', content: VIDEO_BYTES })
  async download(
    @Req() request: VideosHttpRequest,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const variant = textOf(request.query as Record<string, unknown>, 'variant') ?? 'video';
    await this.content.send(await this.videos.find(callerOf(request), id), variant, reply);
  }

  @Delete(':id')
  @Id
  @RequireScope('tasks:cancel')
  @Fails('task_not_found')
  @ApiOperation({ summary: 'Cancel and delete a video, as at OpenAI', operationId: 'openaiDeleteVideo' })
  @ApiOkResponse({ description: 'The video is deleted.', schema: DELETED_VIDEO })
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<object> {
    const task = await this.videos.find(caller, id);
    await this.deletes.delete(caller.apiKeyId, task.id);
    return { id: task.id, object: 'video.deleted', deleted: true };
  }

  @Post(':id/remix')
  @AcceptsBody({ multipart: true })
  @HttpCode(200)
  @Id
  @RequireScope('generations:write')
  @CountsAs('create')
  @ApiBody(REMIX_BODY)
  @Fails('task_not_found', ...CREATION_FAULTS)
  @ApiOperation({ summary: 'Make a video again with another prompt, as at OpenAI', operationId: 'openaiRemixVideo' })
  @ApiOkResponse({ type: VideoView })
  async remix(
    @Req() request: VideosHttpRequest,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<VideoView> {
    const caller = callerOf(request);
    const path = `${VIDEOS}/${id}/remix`;
    const body = await readBody(request, path);
    await body.dispose();
    const first = await this.videos.find(caller, id);
    const fields = new Fields(body.fields);
    const prompt = fields.take('prompt');
    fields.refuseUnknown();
    const call = { caller, reply, path: REMIX, waits: false, fingerprint: body.fingerprint };
    const origin = { parent: first.id, relation: 'remix' as const };
    return withHeaders(reply, await this.videos.create(call, this.videos.remixOf(first, prompt), origin));
  }
}

function withHeaders(reply: FastifyReply, { video, call }: CreatedVideo): VideoView {
  reply.headers({
    'task-id': call.taskId,
    location: `/v1/tasks/${call.taskId}`,
    ...(call.isReplay && { 'idempotent-replayed': 'true' }),
  });
  return video;
}
