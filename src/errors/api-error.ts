import { type ErrorCode, type ErrorKind, ERRORS } from './catalog.ts';

interface ApiErrorDetails {
  /** The field at fault, as the client wrote it: `reference_images[2]`. */
  param?: string;
  /** What was wrong and what is allowed; the catalogue's sentence when absent. Never an upstream's words. */
  message?: string;
  /** Differs from the catalogue's only for model_not_found, which is 400 in a body and 404 in a path. */
  status?: number;
  /** Seconds after which a retry may succeed; the catalogue's number when absent. */
  retryAfterS?: number;
  /** Extra response headers. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** A failure with a public code. Services throw it; `error.filter.ts` alone renders it. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly retryAfterS: number | undefined;
  readonly headers: Record<string, string>;

  constructor(
    readonly code: ErrorCode,
    details: ApiErrorDetails = {},
  ) {
    const kind: ErrorKind = ERRORS[code];
    super(details.message ?? kind.message, { cause: details.cause });
    this.name = 'ApiError';
    this.status = details.status ?? kind.status;
    this.type = this.status === 400 ? 'invalid_request_error' : kind.type;
    this.param = details.param ?? null;
    this.retryAfterS = details.retryAfterS ?? kind.retryAfterS;
    this.headers = details.headers ?? {};
  }
}
