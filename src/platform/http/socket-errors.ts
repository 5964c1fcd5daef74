import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import type { KnownRoutes } from './admission/known-routes.ts';
import { answerOnSocket, answerPlainly } from './raw-reply.ts';
import { newRequestId, requestIdOf } from './request-id.ts';

/** Node hangs this on the socket while an answer is under way. */
type BusySocket = Socket & { _httpMessage?: ServerResponse | null };

const answered = new WeakSet<Socket>();

/** What Node could not even parse, or would not wait for any longer. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (answered.has(socket)) return; // the parser reports again for what arrives after its first complaint
  answered.add(socket);
  const answerIsOut = (socket as BusySocket)._httpMessage?.headersSent === true;
  if (error.code === 'ECONNRESET' || answerIsOut) socket.destroy();
  else answerOnSocket(socket, fromParser(error), newRequestId());
}

function fromParser(cause: NodeJS.ErrnoException): ApiError {
  switch (cause.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('headers_too_large', { cause });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ApiError('payload_too_large', { cause });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('request_timeout', { cause });
    default:
      return new ApiError('bad_request', { cause });
  }
}

/** Two kinds of requests that Node keeps from fastify, and would answer without a body or not at all. */
export function answerOddRequests(fastify: FastifyInstance, routes: KnownRoutes): void {
  fastify.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const message = 'Only "Expect: 100-continue" is understood.';
    answerPlainly(response, new ApiError('bad_request', { status: 417, message }), requestIdOf(request));
  });
  fastify.server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    const details = { message: 'This is not a proxy.', headers: { allow: routes.allMethods() } };
    answerOnSocket(socket, new ApiError('method_not_allowed', details), requestIdOf(request));
  });
}
