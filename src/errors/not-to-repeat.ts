import type { ErrorCode } from './catalog.ts';

/**
 * Failures whose task may have been paid, or was no longer wanted. Only OpenAI's clients obey `x-should-retry`. Other
 * clients repeat calls that end with 409 or 5xx, and would pay again.
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
/** Status of these failures for clients other than OpenAI's. No client repeats a call that got this status. */
export const NOT_REPEATED_STATUS = 422;
