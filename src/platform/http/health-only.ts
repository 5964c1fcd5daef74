import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';

const OPEN = new Set(['/healthz', '/readyz', '/metrics']);

/** A process that only works answers for its health, and nothing else. */
export function serveHealthOnly(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', async (request) => {
    if (!OPEN.has(request.url.split('?', 1)[0] as string)) throw new ApiError('route_not_found');
  });
}
