import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own `x-request-id` if it is safe in logs and headers, otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTABLE.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  return `req_${randomUUID()}`;
}
