import { ObjectType } from '@nestjs/graphql';
import { NodeView } from '../../platform/graphql/node.view.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { HOUR_S, unixSeconds } from '../../platform/schema/time.ts';
import type { BatchFault } from './batch-fault.ts';
import { BATCH_STATUSES, type BatchStatus, isEnded } from './batch-status.ts';
import type { UsageTerms } from '../../tasks/record/usage-terms.ts';
import type { BatchUsage, ShownBatch } from './batch.entity.ts';
import { resultFileId } from './result-file-id.ts';

export const BatchStatusChoice = defineChoice(
  'BatchStatus',
  BATCH_STATUSES,
  'Status of a batch; the last two are final.',
);
const WINDOW_S = 24 * HOUR_S;

@ObjectType('BatchRequestCounts', { description: 'The items of a batch in the words of OpenAI.' })
export class BatchRequestCountsView {
  @ApiField.integer('all items') total: number;
  @ApiField.integer('items that succeeded') completed: number;
  @ApiField.integer('items that failed, were cancelled or are invalid') failed: number;
}

@ObjectType('BatchCounts', { description: 'The items of a batch by their state.' })
export class BatchCountsView {
  @ApiField.integer('items that wait') queued: number;
  @ApiField.integer('items in progress') running: number;
  @ApiField.integer('items that succeeded') succeeded: number;
  @ApiField.integer('items that failed') failed: number;
  @ApiField.integer('items that were cancelled') cancelled: number;
  @ApiField.integer('items without a task, because their request is invalid') invalid: number;
}

@ObjectType('BatchError', { description: 'What is wrong with an item of a batch.' })
export class BatchErrorView implements BatchFault {
  @ApiField.integer('position among the items, from 0') index: number;
  @ApiField.integer('line of the input file, from 1; null without a file', { nullable: true }) line: number | null;
  @ApiField.string('the name that the client gave the item', { nullable: true }) custom_id: string | null;
  @ApiField.string('reason, for programs') code: BatchFault['code'];
  @ApiField.string('the field that is wrong', { nullable: true }) param: string | null;
  @ApiField.string('reason, for people') message: string;
}

@ObjectType('BatchErrors', { description: 'The invalid items of a batch.' })
export class BatchErrorsView {
  @ApiField.constant('list') object: 'list';
  @ApiField.list(() => BatchErrorView, 'the first 100 of them') data: BatchErrorView[];
}

@ObjectType('BatchUsage', { description: 'What the items of a batch used and cost.' })
export class BatchUsageView implements BatchUsage {
  @ApiField.integer('images delivered') images: number;
  @ApiField.integer('whole seconds of video delivered') video_seconds: number;
  @ApiField.integer('paid calls') submits: number;
  @ApiField.long('micro-units: 1,000,000 are 1 of the currency') cost_micros: number;
  @ApiField.long('part of the cost that is assumed') assumed_micros: number;
  @ApiField.integer('tasks without a price, which are not in the cost') unpriced_tasks: number;
  @ApiField.string('ISO 4217', { example: 'USD' }) currency: string;
}

/** A batch as every client sees it. Fields that clients of OpenAI know have the meaning that these clients expect. */
@ObjectType('Batch', { description: 'Many generations that were created together.', implements: () => NodeView })
export class BatchView {
  @ApiField.id('identifier', { example: 'batch_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('batch') object: 'batch';
  @ApiField.string('the route whose bodies the items are') endpoint: string;
  @ApiField.oneOf(BatchStatusChoice, '`completed`: every item is final, whether it succeeded or not')
  status: BatchStatus;
  @ApiField.integer('percent of the items that are final; never falls', { min: 0, max: 100 })
  progress: number;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds', { nullable: true }) in_progress_at: number | null;
  @ApiField.long('unix seconds; null unless completed', { nullable: true }) completed_at: number | null;
  @ApiField.long('unix seconds of the request to cancel it; null without one', { nullable: true })
  cancelling_at: number | null;
  @ApiField.long('unix seconds; null unless cancelled', { nullable: true }) cancelled_at: number | null;
  @ApiField.long('unix seconds; the end of the completion window') expires_at: number;
  @ApiField.string('the file that the items were read from', { nullable: true }) input_file_id: string | null;
  @ApiField.string(
    'file with the results of the items that succeeded; null until the batch ends, or if no item succeeded',
    {
      nullable: true,
    },
  )
  output_file_id: string | null;
  @ApiField.string('file with the errors of the other items; null until the batch ends, or if there are none', {
    nullable: true,
  })
  error_file_id: string | null;
  @ApiField.constant('24h') completion_window: '24h';
  @ApiField.object(() => BatchRequestCountsView, 'the items in the words of OpenAI')
  request_counts: BatchRequestCountsView;
  @ApiField.object(() => BatchCountsView, 'the items by their state') counts: BatchCountsView;
  @ApiField.object(() => BatchUsageView, 'what the items used and cost; only at the end', { optional: true })
  usage?: BatchUsageView;
  @ApiField.object(() => BatchErrorsView, 'only with invalid items', { optional: true }) errors?: BatchErrorsView;
  @ApiField.map('as given at creation') metadata: Record<string, string>;
}

export class BatchListView extends listOf(BatchView, 'the batches, newest first') {}

export function toBatchView(batch: ShownBatch, { currency }: Pick<UsageTerms, 'currency'>): BatchView {
  const { id, status, endpoint, total, queued, running, succeeded, failed, cancelled, errors } = batch;
  const invalid = batch.invalid_items;
  const ended = isEnded(status);
  const createdAt = unixSeconds(batch.created_at);
  const unsuccessful = failed + cancelled + invalid;
  return {
    id,
    object: 'batch',
    endpoint,
    status,
    progress: ended ? 100 : Math.min(99, Math.floor((100 * (succeeded + unsuccessful)) / total)),
    created_at: createdAt,
    in_progress_at: createdAt,
    completed_at: status === 'completed' ? unixSecondsOrNull(batch.ended_at) : null,
    cancelling_at: unixSecondsOrNull(batch.cancelling_at),
    cancelled_at: status === 'cancelled' ? unixSecondsOrNull(batch.ended_at) : null,
    expires_at: createdAt + WINDOW_S,
    input_file_id: batch.input_file_id,
    output_file_id: ended && succeeded > 0 ? resultFileId(id, 'output') : null,
    error_file_id: ended && unsuccessful > 0 ? resultFileId(id, 'errors') : null,
    completion_window: '24h',
    request_counts: { total, completed: succeeded, failed: unsuccessful },
    counts: { queued, running, succeeded, failed, cancelled, invalid },
    ...(batch.usage && { usage: { ...batch.usage, currency } }),
    ...(errors && { errors: { object: 'list', data: errors } }),
    metadata: batch.metadata,
  };
}

const unixSecondsOrNull = (date: Date | null): number | null => (date ? unixSeconds(date) : null);
