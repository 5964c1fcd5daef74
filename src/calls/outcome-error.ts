import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { NOT_REPEATED_STATUS, NOT_TO_REPEAT } from '../errors/not-to-repeat.ts';
import { taskError } from '../tasks/record/task-error.ts';
import type { ShownTask } from '../tasks/record/task.entity.ts';

/**
 * The error that a call gets when its task has failed. If a repeated call could cost again, clients other than OpenAI's
 * get a status that they do not repeat.
 */
export function outcomeError(
  { error, usage }: Pick<ShownTask, 'error' | 'usage'>,
  { headers }: Pick<FastifyRequest, 'headers'>,
): ApiError {
  const { code, message, param } = error ?? taskError('internal_error');
  // A retry creates a new task. So it is advised only if the provider was unavailable and the failed task cost nothing.
  const wasBought = code !== 'provider_unavailable' || (usage?.cost_micros ?? 0) > 0;
  const isOpenaiClient = headers['x-stainless-lang'] !== undefined;
  return new ApiError(code, {
    message,
    ...(param && { param }),
    ...(!isOpenaiClient && NOT_TO_REPEAT.includes(code) && { status: NOT_REPEATED_STATUS }),
    headers: { 'x-should-retry': wasBought ? 'false' : 'true' },
  });
}
