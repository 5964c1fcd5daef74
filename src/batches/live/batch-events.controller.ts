import { Controller, Get, Head, Param, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { OpenStreams } from '../../tasks/live/open-streams.ts';
import { lastEventIdOf, sendStream, STREAM_HEADERS } from '../../tasks/live/send-stream.ts';
import { isEnded } from '../record/batch-status.ts';
import { BatchViews } from '../record/batch-views.ts';
import { BatchesService } from '../read/batches.service.ts';
import { FollowBatches } from './follow-batches.ts';
import { versionOf } from './batch-version.ts';
import { Fails } from '../../platform/openapi/faults.ts';

/** Changes of a batch as server-sent events. */
@ApiTags('Batches')
@Controller('v1/batches')
@RequireScope('tasks:read')
export class BatchEventsController {
  constructor(
    private readonly batches: BatchesService,
    private readonly live: FollowBatches,
    private readonly streams: OpenStreams,
    private readonly views: BatchViews,
  ) {}

  /**
   * Declared before the GET, so that Fastify does not derive a HEAD route from the GET. A derived HEAD would read the
   * stream to its end.
   */
  @Head(':id/events')
  @Fails('batch_not_found')
  @ApiOperation({ summary: 'Check that a batch can be followed', operationId: 'headBatchEvents' })
  @ApiParam({ name: 'id', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'the headers of the stream' })
  async head(@CurrentCaller() { apiKeyId }: Caller, @Param('id') id: string, @Res() reply: FastifyReply) {
    await this.batches.find(apiKeyId, id);
    return reply.headers(STREAM_HEADERS).send();
  }

  @Get(':id/events')
  @Fails('batch_not_found')
  @ApiOperation({ summary: 'Follow a batch', operationId: 'followBatch' })
  @ApiParam({ name: 'id', schema: { type: 'string' } })
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'the last received `id:`, to resume' })
  @ApiOkResponse({
    description:
      'states of the batch, the current one first, at most four a second; the stream ends after the final one',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  })
  @ApiNoContentResponse({ description: 'the final state was already sent' })
  async follow(
    @CurrentCaller() { apiKeyId }: Caller,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const seen = lastEventIdOf(request);
    const batch = await this.batches.find(apiKeyId, id);
    if (isEnded(batch.status) && versionOf(batch) === seen) {
      return reply.code(204).send(); // 204 makes an EventSource stop
    }
    const queue = await this.streams.track(request.headers.authorization, () => this.live.follow(apiKeyId, id, seen));
    return sendStream(reply, queue, (state) => ({ id: versionOf(state), json: this.views.json(state) }));
  }
}
