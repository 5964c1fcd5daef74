import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiError } from '../../errors/api-error.ts';
import { errorHeaders, toErrorBody } from '../../errors/error.filter.ts';

/** How long a client may take to read the response before the connection is cut. */
const LINGER_MS = 1_000;

/** Sends an error response where fastify does not handle the request (yet), and closes the connection. */
export function answerOnResponse(response: ServerResponse, error: ApiError, requestId: string): void {
  const body = JSON.stringify(toErrorBody(error, requestId));
  response.writeHead(error.status, headers(error, requestId, body));
  response.end(body);
}

/** Sends an error response on a raw socket. Ends the socket before destroying it: a reset could outrun the response. */
export function answerOnSocket(socket: Duplex, error: ApiError, requestId: string): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(toErrorBody(error, requestId));
  const lines = Object.entries(headers(error, requestId, body)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function headers(error: ApiError, requestId: string, body: string): Record<string, string> {
  return {
    ...errorHeaders(error),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'x-request-id': requestId,
    date: new Date().toUTCString(),
    connection: 'close',
  };
}
