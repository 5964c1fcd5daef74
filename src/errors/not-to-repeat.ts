import type { ErrorCode } from './catalog.ts';

/**
 * Failures after which a client must not repeat the call: the task may have cost money, or was cancelled. OpenAI's
 * clients obey `x-should-retry`. Other clients may repeat calls that end with 409 or 5xx, and would pay again.
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
/**
 * The status of the failures in `NOT_TO_REPEAT`: clients do not repeat a call that got it. OpenAI's own clients get the
 * usual status, because they obey the header `x-should-retry`.
 */
export const NOT_REPEATED_STATUS = 422;
