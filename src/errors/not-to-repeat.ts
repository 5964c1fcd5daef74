import type { ErrorCode } from './catalog.ts';

/**
 * Ends of tasks that may have been paid, or were not wanted any more. Only OpenAI's clients obey `x-should-retry`;
 * others repeat what has the status 409 or 5xx, and would buy it again.
 */
export const NOT_TO_REPEAT: readonly ErrorCode[] = [
  'task_cancelled',
  'provider_timeout',
  'provider_outcome_unknown',
  'provider_no_result',
  'task_deadline_exceeded',
  'worker_lost',
  'result_storage_failed',
  'internal_error',
];
/** Their status for clients that are not OpenAI's. No client repeats it. */
export const NOT_REPEATED_STATUS = 422;
