import { type ErrorCode, ERRORS } from './catalog.ts';
import type { ErrorKind } from './error-kind.ts';

interface ApiErrorDetails {
  /** The field that caused the error, as the client wrote it: `reference_images[2]`. */
  param?: string;
  /**
   * What is wrong and what is allowed; by default the message in `ERRORS`. Clients see it, so it never repeats the
   * message of a provider.
   */
  message?: string;
  /**
   * Overrides the status in `ERRORS`. For example model_not_found is 400 for an id in a body, and 404 for an id in a
   * path.
   */
  status?: number;
  /** Seconds after which a retry may succeed; by default the number in `ERRORS`. */
  retryAfterS?: number;
  /** Extra response headers. */
  headers?: Record<string, string>;
  /** The errors of single items, for a request with several items. */
  errors?: readonly object[];
  cause?: unknown;
}

/** An error with a public code. The functions in `error.filter.ts` render it. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly retryAfterS: number | undefined;
  readonly headers: Record<string, string>;
  readonly errors: readonly object[] | undefined;

  constructor(
    readonly code: ErrorCode,
    details: ApiErrorDetails = {},
  ) {
    const kind: ErrorKind = ERRORS[code];
    super(details.message ?? kind.message, { cause: details.cause });
    this.name = 'ApiError';
    this.status = details.status ?? kind.status;
    const isOfRequest = this.status === 400 || (this.status < 500 && kind.type === 'server_error');
    this.type = isOfRequest ? 'invalid_request_error' : kind.type;
    this.param = details.param ?? null;
    this.retryAfterS = details.retryAfterS ?? kind.retryAfterS;
    this.headers = details.headers ?? {};
    this.errors = details.errors;
  }
}
