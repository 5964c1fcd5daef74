import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { TASK_ID } from '../record/task-id.ts';
import { TaskFilter } from '../record/task-filter.ts';

export const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

const OrderChoice = defineChoice('TaskOrder', ['asc', 'desc'], 'Oldest or newest first.');

/** Query string of `GET /v1/tasks`. */
export class ListTasksQuery extends TaskFilter {
  @ApiField.integer('tasks per page; a page ends early, with `has_more`, when their inputs are very long', {
    optional: true,
    min: 1,
    max: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    fromQuery: true,
  })
  limit?: number;

  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: TASK_ID, message: 'after must be the id of a task' },
  })
  after?: string;

  @ApiField.oneOf(OrderChoice, 'newest first when left out', { optional: true })
  order?: 'asc' | 'desc';
}
