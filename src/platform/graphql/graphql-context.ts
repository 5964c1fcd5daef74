import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The headers of a handshake that say who opens the socket. */
export type SocketHeaders = Pick<IncomingHttpHeaders, 'authorization' | 'cookie' | 'origin' | 'host' | 'user-agent'>;

/** Takes the place of a request for an operation over a socket, so that the guard reads it like a request over HTTP. */
export interface SocketRequest {
  headers: SocketHeaders;
  overSocket: true;
  id: string;
}

/** The context of every resolver. A socket has no reply. */
export interface GraphqlContext {
  request: FastifyRequest | SocketRequest;
  reply?: FastifyReply;
  /** What the root fields of a query resolved to, by response key. Missing over a socket and in an event stream. */
  resolved?: Map<string | number, unknown>;
}

export async function httpContext(request: FastifyRequest, reply: FastifyReply): Promise<GraphqlContext> {
  return { request, reply, resolved: new Map() };
}
