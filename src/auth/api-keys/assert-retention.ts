import { ApiError } from '../../errors/api-error.ts';
import type { Config } from '../../platform/config.ts';
import type { ApiKeyLimits } from './api-key-limits.ts';

/**
 * A key keeps its tasks and files no longer than the configuration says, and its files no longer than its tasks.
 * @param own the limits of the key afterwards
 * @param changes the requested ones. Other limits of the key are not checked: a configuration that has become stricter
 *   bounds them.
 * @throws ApiError value_out_of_range
 */
export function assertRetention(own: ApiKeyLimits, changes: object | null | undefined, config: Config): void {
  if (!changes) return;
  const { task_retention_days: tasks, file_retention_days: files } = own;
  if ('task_retention_days' in changes && tasks !== undefined && tasks > config.taskRetentionDays) {
    tooLong('task_retention_days', config.taskRetentionDays, 'TASK_RETENTION_DAYS of the service');
  }
  if ('file_retention_days' in changes && files !== undefined && files > config.fileRetentionDays) {
    tooLong('file_retention_days', config.fileRetentionDays, 'FILE_RETENTION_DAYS of the service');
  }
  if (tasks !== undefined && files !== undefined && files > tasks) {
    tooLong('file_retention_days', tasks, 'task_retention_days of the key');
  }
}

function tooLong(name: string, bound: number, what: string): never {
  const param = `limits.${name}`;
  throw new ApiError('value_out_of_range', { param, message: `${param} must be at most ${bound}, the ${what}.` });
}
