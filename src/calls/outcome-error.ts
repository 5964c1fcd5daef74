import { ApiError } from '../errors/api-error.ts';
import { taskError } from '../tasks/record/task-error.ts';
import type { ShownTask } from '../tasks/record/task.entity.ts';

/** The error that a call answers when its task has failed. */
export function outcomeError({ error }: Pick<ShownTask, 'error'>): ApiError {
  const { code, message, param } = error ?? taskError('internal_error');
  return new ApiError(code, {
    message,
    ...(param && { param }),
    // Nothing was bought only when no provider was reached; then a retry makes a new task.
    headers: { 'x-should-retry': code === 'provider_unavailable' ? 'true' : 'false' },
  });
}
