import { ERRORS } from '../../errors/catalog.ts';
import { defineChoice } from '../../platform/schema/choice.ts';

/**
 * Why a task failed. `retryable` says whether the same request may succeed later; it depends on the code alone. The
 * messages are in `ERRORS`.
 */
export const TASK_ERRORS = {
  task_cancelled: { retryable: false },
  content_policy_violation: { retryable: false },
  reference_image_fetch_failed: { retryable: true },
  reference_image_invalid: { retryable: false },
  provider_rejected: { retryable: false },
  provider_unavailable: { retryable: true },
  provider_timeout: { retryable: true },
  provider_outcome_unknown: { retryable: false },
  provider_no_result: { retryable: true },
  provider_quota_exceeded: { retryable: false },
  task_deadline_exceeded: { retryable: true },
  worker_lost: { retryable: true },
  result_storage_failed: { retryable: true },
  internal_error: { retryable: true },
} as const satisfies Record<string, { retryable: boolean }>;

export type TaskErrorCode = keyof typeof TASK_ERRORS;
export const TaskErrorCodeChoice = defineChoice(
  'TaskErrorCode',
  Object.keys(TASK_ERRORS) as TaskErrorCode[],
  'Why a task failed.',
);

/** The error as stored with a failed task. */
export interface TaskError {
  code: TaskErrorCode;
  message: string;
  retryable: boolean;
  /** The input field at fault, such as `reference_images[0]`. */
  param?: string;
}

/** Builds the error of a failed task. Never pass an upstream's message, host or key as `message`: clients see it. */
export function taskError(code: TaskErrorCode, details: { message?: string; param?: string } = {}): TaskError {
  const { retryable } = TASK_ERRORS[code];
  return {
    code,
    message: details.message ?? ERRORS[code].message,
    retryable,
    ...(details.param ? { param: details.param } : {}),
  };
}
