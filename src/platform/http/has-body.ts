import type { IncomingHttpHeaders } from 'node:http';

/** Whether a request announces a body. Many clients send a Content-Type, or `Content-Length: 0`, without one. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
