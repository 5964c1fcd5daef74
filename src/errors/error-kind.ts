/** The `type` of an error, with the names that the `openai` clients use. */
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
  /** What the client reads, unless the code that throws has a more exact message. */
  message: string;
  /** Seconds after which a retry may succeed; sent as Retry-After. */
  retryAfterS?: number;
}
