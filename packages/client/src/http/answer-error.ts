import {
  AuthenticationError,
  BadRequestError,
  BudgetError,
  ConflictError,
  DarkroomError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from '../errors.ts';
import { mayRetry, retryAfterMs } from './retry.ts';

const CLASSES: Record<number, typeof DarkroomError> = {
  401: AuthenticationError,
  402: BudgetError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  410: NotFoundError,
  429: RateLimitError,
};

interface Envelope {
  error: { message: string; type: string; param: string | null; code: string; errors?: Record<string, unknown>[] };
}

/** The error for an answer that is no success. A proxy may have written the body, so any body is accepted. */
export async function errorOf(response: Response): Promise<DarkroomError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  const { message, type, param, code, errors } = envelopeIn(text)?.error ?? {
    message: `The service answered ${status}.`,
    type: 'unknown',
    param: null,
    code: 'unknown',
  };
  const Class = CLASSES[status] ?? (status >= 500 ? ServerError : BadRequestError);
  const error = new Class(message, { status, code, type, param, requestId: headers.get('x-request-id') });
  error.retryable = mayRetry(status, headers, code);
  const waitMs = retryAfterMs(headers);
  if (waitMs !== null) error.retryAfterS = waitMs / 1000;
  if (errors) error.errors = errors;
  return error;
}

function envelopeIn(text: string): Envelope | null {
  try {
    const body = JSON.parse(text) as Partial<Envelope> | null;
    return typeof body?.error?.message === 'string' ? (body as Envelope) : null;
  } catch {
    return null;
  }
}
