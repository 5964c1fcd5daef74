import { defineChoice } from '../../platform/schema/choice.ts';

/** Why a task failed. `retryable` says whether the same request may succeed later; it depends on the code alone. */
export const TASK_ERRORS = {
  task_cancelled: { retryable: false, message: 'The task was cancelled.' },
  content_policy_violation: { retryable: false, message: 'The provider refused the content of this request.' },
  reference_image_fetch_failed: { retryable: true, message: 'A reference image could not be fetched.' },
  reference_image_invalid: {
    retryable: false,
    message: 'A reference image is not a still JPEG, PNG or WebP of at most 20 MB and 33.5 megapixels.',
  },
  provider_rejected: { retryable: false, message: 'The provider did not accept this request.' },
  provider_unavailable: { retryable: true, message: 'The provider could not be reached or is overloaded.' },
  provider_timeout: { retryable: true, message: 'The provider did not answer in time.' },
  provider_outcome_unknown: {
    retryable: false,
    message: 'The request was sent to the provider, but its outcome is not known.',
  },
  provider_quota_exceeded: { retryable: false, message: 'The quota at the provider is used up.' },
  task_deadline_exceeded: { retryable: true, message: 'The task was not finished before its deadline.' },
  worker_lost: { retryable: true, message: 'The workers that ran this task were lost.' },
  result_storage_failed: { retryable: true, message: 'The result was generated but could not be stored.' },
  internal_error: { retryable: true, message: 'Something went wrong on our side.' },
} as const satisfies Record<string, { retryable: boolean; message: string }>;

export type TaskErrorCode = keyof typeof TASK_ERRORS;
export const TaskErrorCodeChoice = defineChoice(
  'TaskErrorCode',
  Object.keys(TASK_ERRORS) as TaskErrorCode[],
  'Why a task failed.',
);

/** As stored with a failed task. */
export interface TaskError {
  code: TaskErrorCode;
  message: string;
  retryable: boolean;
  /** The input field at fault: `reference_images[0]`. */
  param?: string;
}

/** Builds the error of a failed task. Never pass an upstream's message, host or key as `message`: clients see it. */
export function taskError(code: TaskErrorCode, details: { message?: string; param?: string } = {}): TaskError {
  const { retryable, message } = TASK_ERRORS[code];
  return { code, message: details.message ?? message, retryable, ...(details.param ? { param: details.param } : {}) };
}
