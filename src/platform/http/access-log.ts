import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** Asked every few seconds by machines; they would drown the rest. */
const QUIET_ROUTES = new Set(['/healthz', '/readyz', '/metrics']);

/** One line a request: the pattern of its route, never its address, which may hold a signature. */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url;
    const level = route !== undefined && QUIET_ROUTES.has(route) ? 'debug' : 'info';
    if (logger.isLevelEnabled(level)) {
      logger[level]({
        event: 'request',
        request_id: request.id,
        method: request.method,
        route: route ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      });
    }
    done();
  });
}
