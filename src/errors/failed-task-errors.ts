import type { ErrorKind } from './error-kind.ts';

/** The errors of failed and cancelled tasks, for interfaces that answer a request with the result of its task. */
export const FAILED_TASK_ERRORS = {
  content_policy_violation: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider refused the content of this request.',
  },
  reference_image_fetch_failed: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A reference image could not be fetched.',
  },
  reference_image_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A reference image is not a still JPEG, PNG or WebP of at most 20 MB and 33.5 megapixels.',
  },
  provider_rejected: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider did not accept this request.',
  },
  task_cancelled: { status: 409, type: 'invalid_request_error', message: 'The task was cancelled.' },
  worker_lost: { status: 500, type: 'server_error', message: 'The workers that ran this task were lost.' },
  result_storage_failed: {
    status: 500,
    type: 'server_error',
    message: 'The result was generated but could not be stored.',
  },
  provider_timeout: { status: 502, type: 'server_error', message: 'The provider did not answer in time.' },
  provider_outcome_unknown: {
    status: 502,
    type: 'server_error',
    message: 'The request was sent to the provider, but its outcome is not known.',
  },
  provider_no_result: {
    status: 502,
    type: 'server_error',
    message: 'The provider accepted the request but returned no result.',
  },
  provider_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'The provider could not be reached or is overloaded.',
  },
  provider_quota_exceeded: { status: 503, type: 'server_error', message: 'The quota at the provider is used up.' },
  task_deadline_exceeded: {
    status: 504,
    type: 'server_error',
    message: 'The task was not finished before its deadline.',
  },
} as const satisfies Record<string, ErrorKind>;
