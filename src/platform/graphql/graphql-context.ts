import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { QueryPlan } from './query-plan.ts';

/** The headers of a handshake that say who opens the socket. */
export type SocketHeaders = Pick<IncomingHttpHeaders, 'authorization' | 'cookie' | 'origin' | 'host' | 'user-agent'>;

interface QueryRun {
  /** What the root fields resolved to, by response key (resolve-roots-once.ts). */
  resolved: Map<string | number, unknown>;
  /** What made the response, if a plan did (operations-plugin.ts). */
  plan?: QueryPlan;
  /** The plan was tried before Apollo was asked, and the response has errors. */
  gaveUp?: true;
}

/**
 * The context of every resolver. A socket has no reply, and only some headers in place of a request, so the guard reads
 * both in the same way.
 */
export interface GraphqlContext {
  request: FastifyRequest | { headers: SocketHeaders; overSocket: true; id: string };
  reply?: FastifyReply;
  /** Missing over a socket. Apollo copies the context, but not this. */
  query?: QueryRun;
}

export type HttpContext = GraphqlContext & { query: QueryRun };

export function httpContext(request: FastifyRequest, reply: FastifyReply): HttpContext {
  return { request, reply, query: { resolved: new Map() } };
}
