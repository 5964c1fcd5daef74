import type { ErrorKind } from './error-kind.ts';
import { FAILED_TASK_ERRORS } from './failed-task-errors.ts';

/** The errors of the API, one row per code. A test compares the rows with docs/api/errors.md and openapi.json. */
export const ERRORS = {
  invalid_json: { status: 400, type: 'invalid_request_error', message: 'The request body is not valid JSON.' },
  invalid_body: { status: 400, type: 'invalid_request_error', message: 'The request body must be a JSON object.' },
  missing_required_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A required parameter is missing.',
  },
  invalid_type: { status: 400, type: 'invalid_request_error', message: 'A parameter has the wrong type.' },
  invalid_value: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A parameter has a value that is not allowed.',
  },
  value_out_of_range: { status: 400, type: 'invalid_request_error', message: 'A number is outside its allowed range.' },
  string_too_long: { status: 400, type: 'invalid_request_error', message: 'A string is longer than allowed.' },
  too_many_items: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A list or map has more entries than allowed.',
  },
  invalid_unicode: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A string contains a NUL character or half of a surrogate pair.',
  },
  unsupported_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'This model does not accept this parameter.',
  },
  unknown_parameter: { status: 400, type: 'invalid_request_error', message: 'There is no such parameter.' },
  model_not_found: { status: 404, type: 'not_found_error', message: 'There is no such model.' },
  invalid_url: { status: 400, type: 'invalid_request_error', message: 'This is not an absolute http(s) URL.' },
  url_not_allowed: { status: 400, type: 'invalid_request_error', message: 'The service may not call this URL.' },
  invalid_idempotency_key: {
    status: 400,
    type: 'invalid_request_error',
    message: 'Idempotency-Key must be 1 to 255 printable ASCII characters.',
  },
  duplicate_key: { status: 400, type: 'invalid_request_error', message: 'A JSON object contains the same key twice.' },
  json_too_deep: { status: 400, type: 'invalid_request_error', message: 'The JSON is nested deeper than 32 levels.' },
  invalid_multipart: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The form is malformed, or exceeds a limit.',
  },
  invalid_image: {
    status: 400,
    type: 'invalid_request_error',
    message: 'This is not a still JPEG, PNG or WebP of at most 20 MB and 33.5 megapixels.',
  },
  invalid_file: { status: 400, type: 'invalid_request_error', message: 'This file is not what was announced.' },
  batch_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: 'Items of the batch are invalid; nothing was created.',
  },
  bad_request: { status: 400, type: 'invalid_request_error', message: 'The request is not valid HTTP.' },
  request_timeout: { status: 408, type: 'invalid_request_error', message: 'The request did not arrive in time.' },

  missing_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'Send your API key in the header "Authorization: Bearer <API_KEY>".',
  },
  invalid_api_key: { status: 401, type: 'authentication_error', message: 'This API key is unknown.' },
  api_key_revoked: { status: 401, type: 'authentication_error', message: 'This API key was revoked.' },
  api_key_expired: { status: 401, type: 'authentication_error', message: 'This API key has expired.' },

  session_expired: {
    status: 401,
    type: 'authentication_error',
    message: 'This browser is not signed in any more; sign in again.',
  },
  invalid_sign_in_code: {
    status: 401,
    type: 'authentication_error',
    message: 'This sign-in link was used already, or it is older than 10 minutes.',
  },

  budget_exceeded: {
    status: 402,
    type: 'budget_error',
    message: 'The estimated cost would pass the budget of this API key.',
  },

  insufficient_scope: { status: 403, type: 'permission_error', message: 'This API key lacks the scope for this call.' },
  origin_not_allowed: {
    status: 403,
    type: 'permission_error',
    message:
      'Pages of this origin, or under this host name, may not call the service. A program sends an API key instead.',
  },
  model_not_allowed: { status: 403, type: 'permission_error', message: 'This API key may not use this model.' },
  invalid_signature: {
    status: 403,
    type: 'permission_error',
    message: 'This link has no valid signature, or it has expired.',
  },
  file_quota_exceeded: {
    status: 403,
    type: 'permission_error',
    message: 'Your files use all the space of this API key. Delete some.',
  },
  kept_quota_exceeded: {
    status: 403,
    type: 'permission_error',
    message: 'The kept files use all the space of this API key. Keep fewer of them.',
  },

  task_not_found: { status: 404, type: 'not_found_error', message: 'No task of yours has this id.' },
  api_key_not_found: { status: 404, type: 'not_found_error', message: 'There is no API key with this id.' },
  erasure_not_found: { status: 404, type: 'not_found_error', message: 'There is no erasure with this id.' },
  webhook_endpoint_not_found: {
    status: 404,
    type: 'not_found_error',
    message: 'No webhook endpoint of yours has this id.',
  },
  webhook_event_not_found: { status: 404, type: 'not_found_error', message: 'No webhook event of yours has this id.' },
  session_not_found: { status: 404, type: 'not_found_error', message: 'No session of yours has this id.' },
  file_not_found: { status: 404, type: 'not_found_error', message: 'No file of yours has this id.' },
  share_not_found: { status: 404, type: 'not_found_error', message: 'No share of yours has this id.' },
  batch_not_found: { status: 404, type: 'not_found_error', message: 'No batch of yours has this id.' },
  process_not_found: { status: 404, type: 'not_found_error', message: 'No process of the service has this id.' },
  pause_not_found: { status: 404, type: 'not_found_error', message: 'No pause has this id, or it has ended.' },
  place_not_found: { status: 404, type: 'not_found_error', message: 'No provider has an address with this number.' },
  webhook_replay_not_found: { status: 404, type: 'not_found_error', message: 'No webhook replay has this id.' },
  route_not_found: { status: 404, type: 'not_found_error', message: 'There is nothing at this URL.' },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'This URL does not accept this method.',
  },
  file_expired: { status: 410, type: 'not_found_error', message: 'This file was deleted when its retention ended.' },
  share_ended: { status: 410, type: 'not_found_error', message: 'This share has ended.' },
  payload_too_large: {
    status: 413,
    type: 'invalid_request_error',
    message:
      'The request body is larger than this call accepts, which is 1 MiB for most. Upload images with POST /v1/files.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'Send the body as "Content-Type: application/json".',
  },
  range_not_satisfiable: {
    status: 416,
    type: 'invalid_request_error',
    message: 'The requested range lies outside the file.',
  },
  headers_too_large: { status: 431, type: 'invalid_request_error', message: 'The request headers are too large.' },

  upload_incomplete: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The bytes of this file have not arrived yet.',
  },
  idempotency_in_progress: {
    status: 409,
    type: 'idempotency_error',
    message: 'A request with this Idempotency-Key is still in progress; try again shortly.',
    retryAfterS: 1,
  },
  idempotency_key_reused: {
    status: 422,
    type: 'idempotency_error',
    message: 'This Idempotency-Key was used with a different body.',
  },

  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', message: 'Too many requests; slow down.' },
  queue_full: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many of your tasks are already waiting.',
    retryAfterS: 5,
  },

  variant_not_available: {
    status: 404,
    type: 'not_found_error',
    message: 'This video has no such file.',
  },
  task_unfinished: {
    status: 409,
    type: 'invalid_request_error',
    message: 'The task is not final yet.',
  },
  task_not_running: { status: 409, type: 'invalid_request_error', message: 'This task is not running.' },
  result_not_ready: { status: 409, type: 'invalid_request_error', message: 'The task has no result.' },

  ...FAILED_TASK_ERRORS,
  generation_timeout: {
    status: 504,
    type: 'server_error',
    message: 'The generation takes longer than a call may wait; read its task.',
    retryAfterS: 1,
  },

  internal_error: { status: 500, type: 'server_error', message: 'Something went wrong on our side.' },
  service_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'The service cannot answer right now; try again.',
    retryAfterS: 2,
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;
