import { ApiField } from '../../platform/schema/api-field.ts';
import { TaskFilter } from '../record/task-filter.ts';

/** The most ids in one request. */
export const MAX_IDS = 100;

/** Which tasks to cancel: exactly one of the two fields is given. */
export class CancelTasksInput {
  @ApiField.list('string', 'identifiers of tasks', { optional: true, min: 1, max: MAX_IDS })
  ids?: string[];

  @ApiField.object(
    () => TaskFilter,
    'selects unfinished tasks by at least one condition; of more than 1,000 the oldest are cancelled',
    { optional: true, minProperties: 1 },
  )
  filter?: TaskFilter;
}
