import { ApiError } from '../../errors/api-error.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import type { CancelTasksInput } from './cancel-tasks.input.ts';

export type CancelSelection = { ids: string[] } | { filter: TaskFilter };

/**
 * @param names how the interface names the two parameters
 * @throws ApiError missing_required_parameter, invalid_value
 */
export function selectionOf(
  { ids, filter }: CancelTasksInput,
  names: { ids: string; filter: string } = { ids: 'ids', filter: 'filter' },
): CancelSelection {
  const both = `Send ${names.ids} or ${names.filter}`;
  if (ids && filter) throw new ApiError('invalid_value', { param: names.filter, message: `${both}, not both.` });
  if (ids) return { ids };
  if (!filter) throw new ApiError('missing_required_parameter', { param: names.ids, message: `${both}.` });
  if (!hasCondition(filter)) {
    // A client that loses its filter must not cancel everything.
    const message = `${names.filter} must have a condition. created_after 0 selects all tasks.`;
    throw new ApiError('invalid_value', { param: names.filter, message });
  }
  return { filter };
}

const hasCondition = ({ metadata, ...others }: TaskFilter): boolean =>
  Object.keys(metadata ?? {}).length > 0 ||
  Object.values(others).some((value) => value !== undefined && value !== null);

/**
 * Throws if a field of the filter is null, or is text although the field has another type. The validation permits both,
 * because numbers in a query string are text, and null in GraphQL means that the field was not given. In the JSON body
 * of a request that cancels tasks, both are mistakes.
 * @param sent the filter as the client sent it
 * @param read the same filter after validation
 * @throws ApiError invalid_type
 */
export function assertNotCoerced(sent: object, read: TaskFilter): void {
  for (const [name, value] of Object.entries(sent)) {
    if (value !== null && typeof value === typeof read[name as keyof TaskFilter]) continue;
    const param = `filter.${name}`;
    const message = value === null ? `${param} must not be null.` : `${param} must not be text.`;
    throw new ApiError('invalid_type', { param, message });
  }
}
