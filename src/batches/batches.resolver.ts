import { Args, Mutation, Query, Resolver, Subscription } from '@nestjs/graphql';
import { CountsAs, CurrentCaller, RequireScope } from '../auth/access/access.ts';
import type { Caller } from '../auth/access/caller.ts';
import { ApiError } from '../errors/api-error.ts';
import { After, type Connection, connectionOf, First, toConnection } from '../platform/graphql/connection.ts';
import type { PullQueue } from '../platform/run/pull-queue.ts';
import { isBatchId } from '../tasks/record/task-id.ts';
import type { BatchStatus } from './record/batch-status.ts';
import { CreateBatchInput } from './record/batch.inputs.ts';
import type { ShownBatch } from './record/batch.entity.ts';
import { BatchViews } from './record/batch-views.ts';
import { BatchStatusChoice, BatchView } from './record/batch.view.ts';
import { BatchesService } from './read/batches.service.ts';
import { CreateBatches } from './create/create-batches.ts';
import { CancelBatches } from './end/cancel-batches.ts';
import { FollowBatches } from './live/follow-batches.ts';

const BatchConnection = connectionOf(BatchView, 'Batch');

const BatchId = (): ParameterDecorator => Args('id', { type: () => String, description: 'identifier of the batch' });

@Resolver()
export class BatchesResolver {
  constructor(
    private readonly service: BatchesService,
    private readonly creates: CreateBatches,
    private readonly cancels: CancelBatches,
    private readonly live: FollowBatches,
    readonly views: BatchViews,
  ) {}

  @Query(() => BatchView, { description: 'One batch. An unknown id is the error batch_not_found.' })
  @RequireScope('tasks:read')
  async batch(@CurrentCaller() { apiKeyId }: Caller, @BatchId() id: string): Promise<BatchView> {
    return this.views.of(await this.service.find(apiKeyId, id));
  }

  @Query(() => BatchConnection, { description: 'The batches of your API key, newest first.' })
  @RequireScope('tasks:read')
  async batches(
    @CurrentCaller() { apiKeyId }: Caller,
    @First() first: number,
    @After() after: string | null | undefined,
    @Args('status', { type: () => BatchStatusChoice.graphql, nullable: true, description: 'all when left out' })
    status?: BatchStatus | null,
  ): Promise<Connection<BatchView>> {
    if (typeof after === 'string' && !isBatchId(after)) {
      throw new ApiError('invalid_value', { param: 'after', message: 'after must be the id of a batch.' });
    }
    const { batches, hasMore } = await this.service.list(apiKeyId, { limit: first, after, status });
    return toConnection(
      batches.map((batch) => this.views.of(batch)),
      ({ id }) => id,
      { hasMore, after },
    );
  }

  /**
   * @param input has the field names of REST, so that an equal batch has the same hash in REST and GraphQL. The two
   *   APIs then share Idempotency-Keys
   */
  @Mutation(() => BatchView, {
    description:
      'Creates many generations, all or none. The faults of invalid items are in `extensions.errors`. A repeated idempotency key returns the first answer again.',
  })
  @RequireScope('generations:write')
  @CountsAs('create')
  async createBatch(
    @CurrentCaller() caller: Caller,
    @Args('input', { type: () => CreateBatchInput, description: 'the batch to create' })
    input: Record<string, unknown>,
    @Args('idempotencyKey', {
      type: () => String,
      nullable: true,
      description: '1 to 255 printable ASCII characters, shared with the Idempotency-Key header of REST',
    })
    idempotencyKey: string | null | undefined,
  ): Promise<BatchView> {
    const body = withoutNulls(input);
    if (Array.isArray(body.requests)) body.requests = body.requests.map((item: object) => withoutNulls(item));
    const created = await this.creates.create(caller, body, idempotencyKey ?? undefined, NEVER);
    return JSON.parse(created.json) as BatchView;
  }

  @Mutation(() => BatchView, {
    description: 'Cancels the unfinished items of a batch; one that has ended stays unchanged.',
  })
  @RequireScope('tasks:cancel')
  async cancelBatch(@CurrentCaller() { apiKeyId }: Caller, @BatchId() id: string): Promise<BatchView> {
    return this.views.of(await this.cancels.cancel(apiKeyId, id));
  }

  @Subscription(() => BatchView, {
    description: 'One batch, from its current state to its final one; then the subscription completes.',
    resolve: toView,
  })
  @RequireScope('tasks:read')
  batchUpdated(@CurrentCaller() { apiKeyId }: Caller, @BatchId() id: string): Promise<PullQueue<ShownBatch>> {
    return this.live.follow(apiKeyId, id);
  }
}

/** Nest calls this function for every event, with the resolver as its `this`. */
function toView(this: BatchesResolver, batch: ShownBatch): BatchView {
  return this.views.of(batch);
}

const NEVER = new AbortController().signal;

/** In GraphQL, null for an optional field means that it was not given. */
const withoutNulls = (given: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
