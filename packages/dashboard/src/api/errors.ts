import type { CombinedError } from '@urql/core';

/** A failed call, as the API describes it. Without an answer of the API the code is `no_response`. */
export class CallError extends Error {
  override name = 'CallError';
  readonly code: string;
  readonly param: string | null;
  readonly requestId: string | null;
  /** Seconds after which the same call may succeed; null: unknown. */
  readonly retryAfterS: number | null;

  constructor(message: string, about: Partial<Pick<CallError, 'code' | 'param' | 'requestId' | 'retryAfterS'>> = {}) {
    super(message);
    this.code = about.code ?? 'no_response';
    this.param = about.param ?? null;
    this.requestId = about.requestId ?? null;
    this.retryAfterS = about.retryAfterS ?? null;
  }

  /** Whether the same call may succeed later. */
  get isTemporary(): boolean {
    return TEMPORARY.has(this.code);
  }
}

const TEMPORARY = new Set([
  'no_response',
  'rate_limit_exceeded',
  'queue_full',
  'service_unavailable',
  'internal_error',
  'request_timeout',
  'idempotency_in_progress',
]);

/** Error codes that end the session. */
export const SIGNED_OUT = new Set([
  'missing_api_key',
  'invalid_api_key',
  'api_key_revoked',
  'api_key_expired',
  'session_not_found',
]);

interface ErrorBody {
  message?: string;
  code?: string;
  param?: string | null;
  request_id?: string | null;
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function retryAfter(headers: Headers | undefined): number | null {
  const seconds = Number(headers?.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

export function fromGraphQL(error: CombinedError): CallError {
  const response = error.response as Response | undefined;
  const first = error.graphQLErrors[0];
  if (!first) return new CallError('The service does not answer.', { retryAfterS: retryAfter(response?.headers) });
  return new CallError(first.message, {
    code: text(first.extensions['code']) ?? 'internal_error',
    param: text(first.extensions['param']),
    requestId: text(first.extensions['request_id']) ?? response?.headers?.get('x-request-id') ?? null,
    retryAfterS: retryAfter(response?.headers),
  });
}

export async function fromResponse(response: Response): Promise<CallError> {
  const body = (await response.json().catch(() => ({}))) as { error?: ErrorBody };
  const { message, code, param, request_id: requestId } = body.error ?? {};
  return new CallError(message ?? `The service answered with ${response.status}.`, {
    code: code ?? 'internal_error',
    param: param ?? null,
    requestId: requestId ?? response.headers.get('x-request-id'),
    retryAfterS: retryAfter(response.headers),
  });
}

export const asCallError = (error: unknown): CallError =>
  error instanceof CallError ? error : new CallError(error instanceof Error ? error.message : 'The call failed.');
