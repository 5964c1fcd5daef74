import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { isHealthPath } from './request.ts';

/** For the role `worker`: every path is 404, except `HEALTH_PATHS`. */
export function serveHealthOnly(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', async (request) => {
    if (!isHealthPath(request.url.split('?', 1)[0] as string)) throw new ApiError('route_not_found');
  });
}
