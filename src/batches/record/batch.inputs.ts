import { InputType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { BATCH_ID } from '../../tasks/record/task-id.ts';
import type { TaskPriority } from '../../tasks/record/task-priority.ts';
import { TaskPriorityChoice } from '../../tasks/read/task.view.ts';
import { type BatchStatus, RESULT_STATUSES, type ResultStatus } from './batch-status.ts';
import { BatchStatusChoice } from './batch.view.ts';

const MAX_PAGE = 100;
export const DEFAULT_PAGE = 20;

const OnInvalidChoice = defineChoice(
  'BatchOnInvalid',
  ['refuse', 'skip'],
  'What happens to a batch with invalid items: nothing is created, or the valid ones run.',
);
const ResultStatusChoice = defineChoice('BatchResultStatus', RESULT_STATUSES, 'Which results to read.');

@InputType('BatchRequestInput', { description: 'An item of a batch.' })
export class BatchRequestInput {
  @ApiField.string('your name for the item: 1 to 64 printable ASCII characters, unique in the batch', {
    optional: true,
  })
  custom_id?: string;

  @ApiField.json('the body that the endpoint takes, in the field names of REST') body: Record<string, unknown>;
}

@InputType('CreateBatchInput', { description: 'A batch to create: `requests` or `inputFileId`.' })
export class CreateBatchInput {
  @ApiField.list(() => BatchRequestInput, 'the items', { optional: true })
  requests?: BatchRequestInput[];

  @ApiField.string(
    'in place of `requests`: a file of purpose batch, each line {"custom_id", "method": "POST", "url", "body"}, where `url` is the endpoint',
    { optional: true },
  )
  input_file_id?: string;

  @ApiField.string(
    'the route whose bodies the items are: /v1/generations (default), /v1/images/generations, /v1/images/edits or /v1/videos',
    { optional: true },
  )
  endpoint?: string;

  @ApiField.oneOf(OnInvalidChoice, 'what happens when items are invalid; refuse when left out', { optional: true })
  on_invalid?: 'refuse' | 'skip';

  @ApiField.oneOf(TaskPriorityChoice, 'priority of the items that name none; low when left out', { optional: true })
  priority?: TaskPriority;

  @ApiField.boolean('whether the end of each item is sent to webhooks; true when left out', { optional: true })
  task_events?: boolean;

  @ApiField.map('up to 16 key-value pairs of text, returned unchanged with the batch', { optional: true })
  metadata?: Record<string, string>;

  @ApiField.string('always "24h"', {
    optional: true,
    pattern: { regex: /^24h$/, message: 'completion_window must be 24h' },
  })
  completion_window?: '24h';
}

/** Query string of `GET /v1/batches`. */
export class ListBatchesQuery {
  @ApiField.integer('batches per page', {
    optional: true,
    min: 1,
    max: MAX_PAGE,
    default: DEFAULT_PAGE,
    fromQuery: true,
  })
  limit?: number;

  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: BATCH_ID, message: 'after must be the id of a batch' },
  })
  after?: string;

  @ApiField.oneOf(BatchStatusChoice, 'status of the batch', { optional: true }) status?: BatchStatus;
}

/** Query string of `GET /v1/batches/{id}/results`. */
export class BatchResultsQuery {
  @ApiField.oneOf(ResultStatusChoice, 'all final items when left out', { optional: true }) status?: ResultStatus;
}
