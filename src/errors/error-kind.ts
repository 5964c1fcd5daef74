/** The `type` in the body of an error response. */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'budget_error'
  | 'permission_error'
  | 'not_found_error'
  | 'idempotency_error'
  | 'rate_limit_error'
  | 'server_error';

export interface ErrorKind {
  /** HTTP status of the response. */
  status: number;
  type: ErrorType;
  /** The default message to the client. The code that throws the error may give a more exact one. */
  message: string;
  /** Seconds after which a retry may succeed; sent as Retry-After. */
  retryAfterS?: number;
}
