import type { Socket } from 'node:net';
import { fastify as createFastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { toApiError } from '../../errors/error.filter.ts';
import { currentRequestId } from '../observe/logging/request-context.ts';
import { IncomingBodies } from './admission/incoming-bodies.ts';
import { acceptJsonBodiesOnly, refuseEncodedBody } from './json/json-body.ts';
import { KnownRoutes } from './admission/known-routes.ts';
import type { HttpLimits } from './limits.ts';
import { LoadBound } from './admission/load-bound.ts';
import { acceptStreamedBodies } from './multipart/streamed-bodies.ts';
import { answerOnResponse } from './raw-reply.ts';
import { requestIdOf } from './request-id.ts';
import { answerClientError, answerExpectAndConnect, noteResponses } from './socket-errors.ts';
import { isWebSocket, Upgrades } from './upgrades.ts';
import { keepRoutes, routeOf } from './route-of.ts';

/**
 * The HTTP server before Nest adds its routes: what must hold for every response, including those that Nest never sees.
 */
export interface Edge {
  fastify: FastifyInstance;
  upgrades: Upgrades;
  load: Pick<LoadBound, 'active' | 'bodyBytesInFlight'>;
  /** From now on new requests get 503; requests in flight are finished. */
  startDraining(): void;
}

/** @param trustedProxies CIDR ranges; of a request from them, `request.ip` is the client's address in X-Forwarded-For */
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
  let isDraining = false;

  keepRoutes(fastify);
  acceptJsonBodiesOnly(fastify);
  acceptStreamedBodies(fastify, limits);
  noteResponses(fastify.server);
  answerExpectAndConnect(fastify, routes);
  fastify.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    try {
      if (isDraining && !isAnsweredWhileDraining(request)) throw draining(reply);
      if (!isAnsweredWhileDraining(request)) load.refuseWhenFull();
      requireOneHost(request);
      if (request.is404 && routes.answerUnmatched(request, reply)) return;
      refuseEncodedBody(request);
    } catch (error) {
      done(error as Error);
      return;
    }
    currentRequestId.run(request.id, done);
  });
  new IncomingBodies(limits).watch(fastify);
  load.count(fastify, isAnsweredWhileDraining);

  const sockets = new Set<Socket>();
  fastify.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const startDraining = (): void => {
    if (isDraining) return;
    isDraining = true;
    const timer = setInterval(() => {
      fastify.server.closeIdleConnections();
      // Node does not count connections without a first byte as idle; browsers and HTTP clients open some in advance.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    }, DRAIN_CHECK_MS).unref();
    fastify.server.once('close', () => clearInterval(timer));
  };
  return { fastify, upgrades, load, startDraining };
}

/** Route config of the routes that respond until the process ends: liveness and metrics. */
export const ANSWERED_WHILE_DRAINING = Object.freeze({ answeredWhileDraining: true });

function isAnsweredWhileDraining(request: FastifyRequest): boolean {
  return (routeOf(request).config as Partial<typeof ANSWERED_WHILE_DRAINING>).answeredWhileDraining === true;
}

/** A connection that becomes idle while draining would keep the server open until its client closes it. */
const DRAIN_CHECK_MS = 100;

function draining(reply: FastifyReply): ApiError {
  reply.header('connection', 'close');
  return new ApiError('service_unavailable', { message: 'The service is shutting down; try again.' });
}

/**
 * RFC 9112, 3.2: exactly one Host header. With two, a proxy in front may have used the other. HTTP/0.9 has no version
 * in the request line.
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
