import { InputType } from '@nestjs/graphql';
import { ApiProperty } from '@nestjs/swagger';
import { type MediaKind, MediaKindChoice } from '../../models/media-kind.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import type { TaskStatus } from '../task-status.ts';
import type { TaskSource } from '../task-origin.ts';
import { TASK_ID } from '../task-id.ts';
import { TaskSourceChoice, TaskStatusChoice } from '../task.view.ts';

/** The year 9999, for both edges. */
const MAX_UNIX_S = 253_402_300_799;

/** How OpenAPI writes a map in a query string. Swagger spreads it from the property into the parameter. */
const DEEP_OBJECT: object = { style: 'deepObject', explode: true };

const OMITTABLE = { optional: true, nullIsOmitted: true };
const TIME = { ...OMITTABLE, fromQuery: true, min: 0, max: MAX_UNIX_S };

/** The filter of REST lists, GraphQL lists and subscriptions. null, which only GraphQL can send, means not given. */
@InputType('TaskFilter', { description: 'Selects the tasks that match every given field.' })
export class TaskFilter {
  @ApiField.oneOf(TaskStatusChoice, 'status of the task', OMITTABLE)
  status?: TaskStatus | null;

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

  @ApiField.oneOf(TaskSourceChoice, 'by which interface the task was created', OMITTABLE)
  source?: TaskSource | null;

  @ApiField.string('id of the task that the task was made from', {
    ...OMITTABLE,
    pattern: { regex: TASK_ID, message: 'parent_task_id must be the id of a task' },
  })
  parent_task_id?: string | null;

  @ApiField.map('key-value pairs that the task carries; in a query string `metadata[key]=value`', OMITTABLE)
  @ApiProperty(DEEP_OBJECT)
  metadata?: Record<string, string> | null;
}
