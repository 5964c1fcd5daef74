import { ApiError } from '../errors/api-error.ts';
import { taskError } from '../tasks/record/task-error.ts';
import type { ShownTask } from '../tasks/record/task.entity.ts';

/** The error that a call answers when its task has failed. */
export function outcomeError({ error, usage }: Pick<ShownTask, 'error' | 'usage'>): ApiError {
  const { code, message, param } = error ?? taskError('internal_error');
  // The retry is a new task. A job that was accepted and then failed may cost, by the operator's price.
  const wasBought = code !== 'provider_unavailable' || (usage?.cost_micros ?? 0) > 0;
  return new ApiError(code, {
    message,
    ...(param && { param }),
    headers: { 'x-should-retry': wasBought ? 'false' : 'true' },
  });
}
