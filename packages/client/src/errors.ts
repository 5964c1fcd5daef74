import type { ErrorCode, FailedTask } from './types.gen.ts';

/** What is known about a failed request. Without an answer of the service, `status` is 0. */
export interface ErrorDetails {
  status: number;
  /** Programs tell errors apart by this code. New codes may be added, so handle unknown ones. */
  code: ErrorCode | (string & {});
  type: string;
  /** The field that caused the error, such as `reference_images[2]`; null: no field. */
  param: string | null;
  /** Name this id when you report a problem. Null: there was no answer, or the answer had no id. */
  requestId: string | null;
}

/** The service refused a request, failed, or could not be reached. Each kind of failure has a class of its own. */
export class DarkroomError extends Error implements ErrorDetails {
  override name = 'DarkroomError';
  readonly status: number;
  readonly code: ErrorDetails['code'];
  readonly type: string;
  readonly param: string | null;
  readonly requestId: string | null;
  /** Whether the same request may succeed later. */
  retryable = false;
  /** How many seconds the service asked to wait; null: it did not ask. */
  retryAfterS: number | null = null;
  /** What is wrong with which item of a batch. Empty unless `code` is `batch_invalid`. */
  errors: readonly Record<string, unknown>[] = [];

  constructor(message: string, details: ErrorDetails, options?: { cause?: unknown }) {
    super(message, options);
    this.status = details.status;
    this.code = details.code;
    this.type = details.type;
    this.param = details.param;
    this.requestId = details.requestId;
  }
}

/**
 * All statuses below 500 that have no class of their own, such as 400, 413 and 422: usually the request has to change.
 */
export class BadRequestError extends DarkroomError {
  override name = 'BadRequestError';
}
/** 401: the API key is missing, unknown, revoked or expired. */
export class AuthenticationError extends DarkroomError {
  override name = 'AuthenticationError';
}
/** 402: the request would exceed the budget of the key. */
export class BudgetError extends DarkroomError {
  override name = 'BudgetError';
}
/** 403: the key has no right to make the request. */
export class PermissionError extends DarkroomError {
  override name = 'PermissionError';
}
/** 404 and 410: the object does not exist, or no longer exists. */
export class NotFoundError extends DarkroomError {
  override name = 'NotFoundError';
}
/** 409: the state of the object does not allow the request. */
export class ConflictError extends DarkroomError {
  override name = 'ConflictError';
}
/** 429: too many requests, or too many waiting tasks. */
export class RateLimitError extends DarkroomError {
  override name = 'RateLimitError';
}
/** 5xx: the service failed. */
export class ServerError extends DarkroomError {
  override name = 'ServerError';
}
const NO_ANSWER = {
  status: 0,
  code: 'connection_failed',
  type: 'connection_error',
  param: null,
  requestId: null,
};

/** No complete answer came: the service cannot be reached, or the time ran out. */
export class ConnectionError extends DarkroomError {
  override name = 'ConnectionError';

  constructor(message: string, cause: unknown) {
    super(message, NO_ANSWER, { cause });
    this.retryable = true;
  }
}

/** The task ended without a result. */
export class TaskFailedError extends Error {
  override name = 'TaskFailedError';
  readonly code: FailedTask['error']['code'];
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;

  constructor(readonly task: FailedTask) {
    super(`${task.error.code}: ${task.error.message}`);
    this.code = task.error.code;
    this.retryable = task.error.retryable;
  }
}

/** The wait took longer than its limit. The task or batch goes on, and can be waited for again. */
export class WaitTimeoutError extends Error {
  override name = 'WaitTimeoutError';

  constructor(
    readonly id: string,
    timeoutMs: number,
  ) {
    super(`${id} did not end within ${timeoutMs} ms. It goes on.`);
  }
}

/**
 * A webhook cannot be verified: a header is missing, the signature or the timestamp is not valid, or a secret is
 * malformed.
 */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
}
