import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import type { KnownRoutes } from './admission/known-routes.ts';
import { answerOnSocket, answerOnResponse } from './raw-reply.ts';
import { isWatched } from './multipart/arrival.ts';
import { newRequestId, requestIdOf } from './request-id.ts';

const answered = new WeakSet<Socket>();
/** The responses of each connection that were not sent when its last request came: several, if requests were pipelined. */
const responses = new WeakMap<Socket, ServerResponse[]>();

/** Keeps the responses of each connection, for `answerClientError`. */
export function noteResponses(server: Server): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const earlier = responses.get(socket)?.filter(({ writableFinished }) => !writableFinished) ?? [];
    responses.set(socket, [...earlier, response]);
  });
}

/** Responds to a request that Node could not parse, or that timed out before it was complete. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isWatched(socket)) return; // its body has a time limit of its own
  if (answered.has(socket)) return; // the parser reports another error for bytes that arrive after the first
  answered.add(socket);
  const isResponseSent =
    responses.get(socket)?.some(({ headersSent, writableFinished }) => headersSent && !writableFinished) ?? false;
  if (error.code === 'ECONNRESET' || isResponseSent) socket.destroy();
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

/**
 * Responds to two kinds of requests that Node does not pass to fastify: it would send no body, or no response at all.
 */
export function answerExpectAndConnect(fastify: FastifyInstance, routes: KnownRoutes): void {
  fastify.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const message = 'Only "Expect: 100-continue" is supported.';
    answerOnResponse(response, new ApiError('bad_request', { status: 417, message }), requestIdOf(request));
  });
  fastify.server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    const details = { message: 'This is not a proxy.', headers: { allow: routes.allMethods() } };
    answerOnSocket(socket, new ApiError('method_not_allowed', details), requestIdOf(request));
  });
}
