import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.ts';
import { isDatabaseAway } from './database-away.ts';
import type { ErrorCode } from './catalog.ts';
import { errorPage, PAGE_HEADERS } from './error-page.ts';
import { noteServerError, renderedErrors } from './error-metrics.ts';
import { FAILED_TASK_ERRORS } from './failed-task-errors.ts';

/** The JSON body of an error response. */
export interface ErrorBody {
  error: {
    message: string;
    type: string;
    param: string | null;
    code: ErrorCode;
    request_id: string;
    errors?: readonly object[];
  };
}

/**
 * Converts every error that reaches Nest to an ApiError. Over HTTP it sends the response. To GraphQL it returns the
 * error.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('errors');

  catch(thrown: unknown, host: ArgumentsHost): unknown {
    const error = toApiError(thrown);
    if (host.getType<string>() === 'graphql') return error; // GraphQL's formatter renders it with the functions below

    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    logServerError(this.logger, error, request.id);
    sendError(error, request.id, http.getResponse<FastifyReply>());
    return undefined;
  }
}

/**
 * Codes that report how the task of a request has ended, or that the task takes too long. Errors with these codes are
 * not logged for the request, because the worker logs failed tasks.
 */
const OUTCOMES: ReadonlySet<string> = new Set(['generation_timeout', ...Object.keys(FAILED_TASK_ERRORS)]);

/** Logs an error with a 5xx status, unless its code is in `OUTCOMES`. */
export function logServerError(logger: Logger, error: ApiError, requestId: string): void {
  if (error.status < 500 || OUTCOMES.has(error.code)) return;
  const line = { event: 'request.failed', code: error.code, request_id: requestId, err: error.cause ?? error };
  if (error.code === 'service_unavailable') logger.warn(line);
  else logger.error(line);
}

/**
 * Headers of the response with a file. They are already set when the stream of the file fails before its first byte, so
 * an error removes them.
 */
const OF_FILES = ['etag', 'accept-ranges', 'content-range', 'content-disposition'];

export function sendError(error: ApiError, requestId: string, reply: FastifyReply): void {
  if (reply.raw.headersSent) {
    reply.raw.destroy(); // after half a response only a broken connection can signal the error
    return;
  }
  if (reply.sent) return;
  if (error.status >= 500) noteServerError(reply.raw, error.code);
  for (const name of OF_FILES) void reply.removeHeader(name);
  const page = errorPage(error, reply);
  if (page) {
    renderedErrors.inc({ code: error.code });
    void reply
      .code(error.status)
      .headers({ ...errorHeaders(error), ...PAGE_HEADERS })
      .send(page);
    return;
  }
  void reply
    .code(error.status)
    .headers({ 'cache-control': 'no-store', ...errorHeaders(error) })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(toErrorBody(error, requestId)));
}

export function toErrorBody(error: ApiError, requestId: string): ErrorBody {
  const { message, type, param, code, errors } = error;
  renderedErrors.inc({ code });
  return { error: { message, type, param, code, request_id: requestId, ...(errors && { errors }) } };
}

/** The headers for an error's status, code and retry time. Headers given with the error override them. */
export function errorHeaders(error: ApiError): Record<string, string> {
  return {
    ...headersByStatus(error.status),
    ...headersByCode[error.code],
    ...(error.retryAfterS !== undefined && { 'retry-after': String(error.retryAfterS) }),
    ...error.headers,
  };
}

function headersByStatus(status: number): Record<string, string> | undefined {
  return status === 401 ? { 'www-authenticate': 'Bearer' } : undefined;
}

const headersByCode: Partial<Record<ErrorCode, Record<string, string>>> = {
  idempotency_key_reused: { 'x-should-retry': 'false' },
  // OpenAI's clients repeat a call that got 409, unless this header forbids it.
  result_not_ready: { 'x-should-retry': 'false' },
  task_cancelled: { 'x-should-retry': 'false' },
  task_unfinished: { 'x-should-retry': 'false' },
  upload_incomplete: { 'x-should-retry': 'false' },
};

/**
 * Converts anything thrown to the error that the client gets. An ApiError stays as it is. Any other error, or the error
 * of Fastify in it, becomes the `cause`.
 */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const cause = thrown instanceof HttpException && isFastifyError(thrown.cause) ? thrown.cause : thrown;
  if (isFastifyError(cause)) return fromStatus(cause.statusCode, cause, FASTIFY_CODES[cause.code]);
  if (thrown instanceof HttpException) return fromStatus(thrown.getStatus(), thrown);
  if (isDatabaseAway(thrown)) return new ApiError('service_unavailable', { cause: thrown });
  return new ApiError('internal_error', { cause: thrown });
}

interface FastifyError extends Error {
  code: string;
  statusCode: number;
}

/**
 * Fastify sets `statusCode` on its own errors, and on the errors of a broken upload. An error of a broken upload keeps
 * the `code` of the system, such as ECONNRESET.
 */
function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && typeof (error as Partial<FastifyError>).statusCode === 'number';
}

const FASTIFY_CODES: Record<string, ErrorCode | undefined> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
};

const STATUS_CODES: Record<number, ErrorCode | undefined> = {
  401: 'invalid_api_key',
  403: 'insufficient_scope',
  404: 'route_not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  429: 'rate_limit_exceeded',
  431: 'headers_too_large',
  503: 'service_unavailable',
};

function fromStatus(status: number, cause: Error, code: ErrorCode | undefined = STATUS_CODES[status]): ApiError {
  if (code !== undefined) return new ApiError(code, { cause });
  return status >= 400 && status < 500
    ? new ApiError('bad_request', { status, cause })
    : new ApiError('internal_error', { cause });
}
