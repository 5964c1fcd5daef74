import type { Socket } from 'node:net';
import { fastify as createFastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../../errors/api-error.ts';
import { toApiError } from '../../errors/error.filter.ts';
import { currentRequest } from '../observe/logging/request-context.ts';
import { Connections } from './connections.ts';
import { boundChunks } from './admission/chunked-body.ts';
import { IncomingBodies, LoadBound, UnreadAnswers } from './admission/load-bounds.ts';
import { acceptJsonBodiesOnly } from './strict-json.ts';
import { KnownRoutes } from './admission/known-routes.ts';
import type { HttpLimits } from './limits.ts';
import { acceptStreamedBodies } from './multipart/accepts-body.ts';
import { answerOnResponse, answerOnSocket } from './raw-reply.ts';
import { hasBody, keepRoutes, newRequestId, requestIdOf, routeOf } from './request.ts';
import { isWebSocket, Upgrades } from './upgrades.ts';
import { isWatched } from './multipart/arrival.ts';

/**
 * The HTTP server before Nest adds its routes. It does what every response needs, even a response that Nest never sees.
 */
export interface Edge {
  fastify: FastifyInstance;
  upgrades: Upgrades;
  load: Pick<LoadBound, 'active' | 'bodyBytesInFlight'>;
  connections: Pick<Connections, 'leave' | 'left'>;
  /**
   * From now on new requests get 503, except on routes with `ANSWERED_WHILE_DRAINING`. Requests in flight are finished.
   */
  startDraining(): void;
}

/**
 * @param trustedProxies CIDR ranges. For a request from them, `request.ip` is the client's address in X-Forwarded-For
 */
export function createEdge(limits: HttpLimits, trustedProxies: readonly string[] = []): Edge {
  const fastify = createFastify({
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      maxHeaderSize: limits.headerBytes,
      requireHostHeader: false, // Node would respond without a body; the onRequest hook responds with one
      shouldUpgradeCallback: isWebSocket,
    },
    routerOptions: { maxParamLength: limits.headerBytes }, // a very long id is an unknown id, not a 414
    return503OnClosing: false, // fastify's body is not an ErrorResponse; the onRequest hook sends one
    genReqId: requestIdOf,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => answerOnResponse(reply.raw, toApiError(error), request.id),
  });
  const routes = new KnownRoutes(fastify);
  const upgrades = new Upgrades(fastify);
  const load = new LoadBound(limits);
  const connections = new Connections(fastify, (socket) => responses.get(socket) ?? [], limits);
  let isDraining = false;

  keepRoutes(fastify);
  acceptJsonBodiesOnly(fastify);
  acceptStreamedBodies(fastify, limits);
  noteResponses(fastify.server);
  answerExpectAndConnect(fastify, routes);
  fastify.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done) => {
    if (request.headers['transfer-encoding'] !== undefined) boundChunks(request, reply);
    cutWhenStalled(reply.raw, limits.stallMs);
    // Answers may hold secrets, and most change. A handler whose answer may be kept sets `cache-control` itself.
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    try {
      if (isDraining && !isAnsweredWhileDraining(request))
        throw new ApiError('service_unavailable', { message: 'The service is shutting down; try again.' });
      if (!isAnsweredWhileDraining(request)) load.refuseWhenFull();
      requireOneHost(request);
      if (request.is404 && routes.answerUnmatched(request, reply)) return;
      refuseEncodedBody(request);
    } catch (error) {
      done(error as Error);
      return;
    }
    currentRequest.run({ id: request.id }, done);
  });
  new IncomingBodies(limits).watch(fastify);
  new UnreadAnswers(limits).watch(fastify);
  load.count(fastify, isAnsweredWhileDraining);

  const startDraining = (): void => {
    isDraining = true;
    connections.drain();
  };
  return { fastify, upgrades, load, connections, startDraining };
}

/** Cuts off a client that stops reading. An answer that has not begun, such as that of a long poll, is no stall. */
function cutWhenStalled(response: ServerResponse, stallMs: number): void {
  response.setTimeout(stallMs, () => {
    if (response.socket && response.socket.writableLength > 0) response.socket.destroy();
  });
}

/** Route config of the routes that respond until the process ends: liveness and metrics. */
export const ANSWERED_WHILE_DRAINING = Object.freeze({ answeredWhileDraining: true });

function isAnsweredWhileDraining(request: FastifyRequest): boolean {
  return (routeOf(request).config as Partial<typeof ANSWERED_WHILE_DRAINING>).answeredWhileDraining === true;
}

/**
 * Requires one Host header, which only HTTP/1.0 may omit (RFC 9112, 3.2): of two headers, a proxy in front may have
 * used the other one. Refuses HTTP/0.9, whose request line has no version.
 */
function requireOneHost({ raw }: FastifyRequest): void {
  if (raw.httpVersionMajor !== 1)
    throw new ApiError('bad_request', { message: 'Only HTTP/1.1 and HTTP/1.0 are supported.' });
  let hosts = 0;
  for (let at = 0; at < raw.rawHeaders.length; at += 2) {
    const name = raw.rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1 || (hosts === 0 && raw.httpVersionMinor === 1)) {
    throw new ApiError('bad_request', { message: 'HTTP/1.1 requests must have exactly one Host header.' });
  }
}

/** Compressed bodies are rejected, because a small one may expand to a huge one. */
function refuseEncodedBody(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity' || !hasBody(request.headers)) return;
  throw new ApiError('unsupported_media_type', {
    message: 'Send the body without Content-Encoding.',
    headers: { 'accept-encoding': 'identity' },
  });
}

const answered = new WeakSet<Socket>();
/**
 * The responses of each connection that were not completely sent when its last request came. Pipelined requests cause
 * several.
 */
const responses = new WeakMap<Socket, ServerResponse[]>();

/** Keeps the responses of each connection that speaks HTTP. */
function noteResponses(server: Server): void {
  server.on('upgrade', ({ socket }: IncomingMessage) => responses.delete(socket));
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const earlier = responses.get(socket)?.filter(({ writableFinished }) => !writableFinished) ?? [];
    responses.set(socket, [...earlier, response]);
  });
}

/**
 * Responds to a request that Node could not parse, or that timed out before it was complete. If a response on the
 * connection has begun, closes the connection without another response.
 */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isWatched(socket)) return; // the watched body has its own time limit
  if (answered.has(socket)) return; // the parser reports another error for bytes that arrive later
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
 * Responds to requests with an unknown `Expect`, and to CONNECT. Node does not pass them to fastify: it would send no
 * body, or no response at all.
 */
function answerExpectAndConnect(fastify: FastifyInstance, routes: KnownRoutes): void {
  fastify.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const message = 'Only "Expect: 100-continue" is supported.';
    answerOnResponse(response, new ApiError('bad_request', { status: 417, message }), requestIdOf(request));
  });
  fastify.server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    const details = { message: 'This is not a proxy.', headers: { allow: routes.allMethods() } };
    answerOnSocket(socket, new ApiError('method_not_allowed', details), requestIdOf(request));
  });
}
