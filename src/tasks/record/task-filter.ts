import { InputType } from '@nestjs/graphql';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { type MediaKind, MediaKindChoice } from '../../models/definition/media-kind.ts';
import { ApiField, OMITTABLE } from '../../platform/schema/api-field.ts';
import { MAX_UNIX_S } from '../../platform/schema/time.ts';
import { type TaskErrorCode, TaskErrorCodeChoice } from './task-error.ts';
import { type TaskStatus, TaskStatusChoice } from './task.entity.ts';
import { type TaskSource, TaskSourceChoice } from './task-origin.ts';
import { MAX_COLLECTION_CHARACTERS } from './stars.ts';
import { TASK_ID } from './task-id.ts';
import { MAX_SEARCH_CHARACTERS, MAX_SEARCH_WORDS } from './search-words.ts';

/** How OpenAPI writes a map in a query string. Swagger copies this from the property into the parameter. */
const DEEP_OBJECT: object = { style: 'deepObject', explode: true };

const SEARCH = new RegExp(String.raw`^\s*(?:\S+\s+){0,${MAX_SEARCH_WORDS - 1}}\S+\s*$`, 'u');
const TIME = { ...OMITTABLE, fromQuery: true, min: 0, max: MAX_UNIX_S };

/**
 * The filter of REST lists, GraphQL lists and subscriptions. Only GraphQL can send null, which means that the field was
 * not given.
 */
@InputType('TaskFilter', { description: 'Selects the tasks that match every given field.' })
export class TaskFilter {
  static readonly repeatable = ['statuses'];

  @ApiField.oneOf(TaskStatusChoice, 'status of the task', OMITTABLE)
  status?: TaskStatus | null;

  /** REST takes the values separated by commas, or the parameter several times. */
  @ApiField.list(TaskStatusChoice, 'tasks with any of these statuses', { ...OMITTABLE, min: 1, unique: true })
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.split(',') : value))
  statuses?: TaskStatus[] | null;

  @ApiField.oneOf(TaskErrorCodeChoice, 'failed tasks with this error', OMITTABLE)
  error_code?: TaskErrorCode | null;

  @ApiField.boolean('true: only tasks that were cancelled; false: none of them', { ...OMITTABLE, fromQuery: true })
  cancelled?: boolean | null;

  @ApiField.string('words that are all in the prompt, in any case, at most 8', {
    ...OMITTABLE,
    max: MAX_SEARCH_CHARACTERS,
    pattern: { regex: SEARCH, message: `search must have 1 to ${MAX_SEARCH_WORDS} words` },
  })
  search?: string | null;

  @ApiField.oneOf(MediaKindChoice, 'kind of output', OMITTABLE)
  kind?: MediaKind | null;

  @ApiField.string('id of the model', OMITTABLE)
  model?: string | null;

  @ApiField.string('id of the batch that the task is an item of', OMITTABLE)
  batch_id?: string | null;

  @ApiField.long('created after this time, unix seconds', TIME)
  created_after?: number | null;

  @ApiField.long('created before this time, unix seconds', TIME)
  created_before?: number | null;

  @ApiField.oneOf(TaskSourceChoice, 'the interface through which the task was created', OMITTABLE)
  source?: TaskSource | null;

  @ApiField.string('id of the task that the task was made from', {
    ...OMITTABLE,
    pattern: { regex: TASK_ID, message: 'parent_task_id must be the id of a task' },
  })
  parent_task_id?: string | null;

  @ApiField.boolean('true: only tasks that are kept; false: none of them', { ...OMITTABLE, fromQuery: true })
  kept?: boolean | null;

  @ApiField.string('tasks that are kept in this collection, or have an output in it', {
    ...OMITTABLE,
    min: 1,
    max: MAX_COLLECTION_CHARACTERS,
  })
  collection?: string | null;

  @ApiField.map('key-value pairs that the task carries; in a query string `metadata[key]=value`', OMITTABLE)
  @ApiProperty(DEEP_OBJECT)
  metadata?: Record<string, string> | null;
}
