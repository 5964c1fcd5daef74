import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * The context of every resolver. A socket has no reply, and only the authorization header in place of a request, so the
 * guard reads both in the same way.
 */
export interface GraphqlContext {
  request: { headers: { authorization?: string | undefined } };
  reply?: FastifyReply;
}

export function httpContext(request: FastifyRequest, reply: FastifyReply): GraphqlContext {
  return { request, reply };
}
