import { Controller, Get, Head, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiExtraModels,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, CountsAs, CurrentCaller, type GuardedRequest, RequireScope } from '../auth/access/access.ts';
import type { Caller } from '../auth/access/caller.ts';
import { requireJsonObject } from '../platform/http/strict-json.ts';
import { AcceptsBody } from '../platform/http/multipart/accepts-body.ts';
import { toList } from '../platform/schema/list-of.ts';
import { hungUp } from '../tasks/live/waits.ts';
import { BatchResultsQuery, CreateBatchInput, DEFAULT_PAGE, ListBatchesQuery } from './record/batch.inputs.ts';
import { BatchViews } from './record/batch-views.ts';
import { BatchListView, BatchView } from './record/batch.view.ts';
import { BatchesService } from './read/batches.service.ts';
import { CreateBatches } from './create/create-batches.ts';
import { BatchResults, RESULTS_TYPE } from './results/batch-results.ts';
import { Fails } from '../platform/openapi/faults.ts';
import { CREATED_HEADERS, TakesIdempotencyKey } from '../platform/openapi/headers.ts';
import { BatchCompletedEvent } from './end/batch-completed.view.ts';
import { CancelBatches } from './end/cancel-batches.ts';

type CreationRequest = FastifyRequest<{ Headers: { 'idempotency-key'?: string } }> & GuardedRequest;

/** The most bytes of a JSON body, which may have up to BATCH_MAX_ITEMS requests. */
const JSON_BYTES = 8 * 1024 * 1024;

const Id = ApiParam({ name: 'id', schema: { type: 'string' } });

@ApiTags('Batches')
@ApiExtraModels(BatchCompletedEvent)
@Controller('v1/batches')
export class BatchesController {
  constructor(
    private readonly batches: BatchesService,
    private readonly creates: CreateBatches,
    private readonly cancels: CancelBatches,
    private readonly results: BatchResults,
    private readonly views: BatchViews,
  ) {}

  @Post()
  @RequireScope('generations:write')
  @CountsAs('create')
  @AcceptsBody({ jsonBytes: JSON_BYTES })
  @Fails(
    'batch_invalid',
    'queue_full',
    'budget_exceeded',
    'file_not_found',
    'file_expired',
    'invalid_file',
    'upload_incomplete',
  )
  @ApiOperation({ summary: 'Create many generations at once, all or none', operationId: 'createBatch' })
  @TakesIdempotencyKey()
  @ApiBody({ type: CreateBatchInput })
  @ApiCreatedResponse({ type: BatchView, headers: CREATED_HEADERS })
  async create(@Req() request: CreationRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    const { body, headers } = request;
    const header = headers['idempotency-key'];
    const created = await this.creates.create(callerOf(request), requireJsonObject(body), header, hungUp(reply));
    reply.header('location', `/v1/batches/${created.id}`).type('application/json; charset=utf-8');
    if (created.replayed) reply.header('idempotent-replayed', 'true');
    return created.json;
  }

  @Get()
  @RequireScope('tasks:read')
  @ApiOperation({ summary: 'List batches, newest first', operationId: 'listBatches' })
  @ApiOkResponse({ type: BatchListView })
  async list(
    @CurrentCaller() { apiKeyId }: Caller,
    @Query() { limit = DEFAULT_PAGE, ...page }: ListBatchesQuery,
  ): Promise<BatchListView> {
    const { batches, hasMore } = await this.batches.list(apiKeyId, { limit, ...page });
    return toList(
      batches.map((batch) => this.views.of(batch)),
      hasMore,
      ({ id }) => id,
    );
  }

  @Get(':id')
  @Id
  @RequireScope('tasks:read')
  @Fails('batch_not_found')
  @ApiOperation({ summary: 'Read a batch', operationId: 'getBatch' })
  @ApiOkResponse({ type: BatchView })
  async find(@CurrentCaller() { apiKeyId }: Caller, @Param('id') id: string): Promise<BatchView> {
    return this.views.of(await this.batches.find(apiKeyId, id));
  }

  @Post(':id/cancel')
  @Id
  @HttpCode(200)
  @RequireScope('tasks:cancel')
  @Fails('batch_not_found')
  @ApiOperation({ summary: 'Cancel the unfinished items of a batch', operationId: 'cancelBatch' })
  @ApiOkResponse({ type: BatchView })
  async cancel(@CurrentCaller() { apiKeyId }: Caller, @Param('id') id: string): Promise<BatchView> {
    return this.views.of(await this.cancels.cancel(apiKeyId, id));
  }

  /**
   * Declared before the GET, so that Fastify does not derive a HEAD route from the GET. A derived HEAD would read all
   * the results.
   */
  @Head(':id/results')
  @Id
  @RequireScope('tasks:read')
  @Fails('batch_not_found')
  @ApiOperation({ summary: 'Check that a batch has results', operationId: 'headBatchResults' })
  @ApiOkResponse({ description: 'the headers of the results' })
  async headOfResults(
    @CurrentCaller() { apiKeyId }: Caller,
    @Param('id') id: string,
    @Query() _query: BatchResultsQuery,
    @Res() reply: FastifyReply,
  ) {
    await this.batches.find(apiKeyId, id);
    return reply.type(RESULTS_TYPE).send();
  }

  @Get(':id/results')
  @Id
  @RequireScope('tasks:read')
  @Fails('batch_not_found')
  @ApiOperation({
    summary: 'Read the results of the items that are final, in the order of the items',
    operationId: 'getBatchResults',
  })
  @ApiOkResponse({
    description: 'a line of JSON for each item: id, custom_id, index, task_id, response, error',
    content: { 'application/jsonl': { schema: { type: 'string' } } },
  })
  async read(
    @CurrentCaller() { apiKeyId }: Caller,
    @Param('id') id: string,
    @Query() { status }: BatchResultsQuery,
    @Res() reply: FastifyReply,
  ) {
    const batch = await this.batches.find(apiKeyId, id);
    return reply.type(RESULTS_TYPE).send(this.results.open(batch, status));
  }
}
