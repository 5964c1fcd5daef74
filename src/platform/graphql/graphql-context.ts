import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * What every resolver's context holds. A socket has no reply and, in place of a request, the header its key came in: the
 * guard reads both alike.
 */
export interface GraphqlContext {
  request: { headers: { authorization?: string | undefined } };
  reply?: FastifyReply;
}

export function httpContext(request: FastifyRequest, reply: FastifyReply): GraphqlContext {
  return { request, reply };
}
