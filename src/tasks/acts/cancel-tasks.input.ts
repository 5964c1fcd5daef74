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
    'which unfinished tasks, by at least one condition; only the oldest 1,000 of them are cancelled',
    { optional: true, minProperties: 1 },
  )
  filter?: TaskFilter;
}
