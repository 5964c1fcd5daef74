import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { isHealthPath } from './health-paths.ts';

/**
 * Logs one line per request: the pattern of its route, never its address, which may hold a signature. Health routes are
 * logged at `debug`: monitors poll them every few seconds, and their lines would bury the others.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url;
    const level = route !== undefined && isHealthPath(route) ? 'debug' : 'info';
    if (logger.isLevelEnabled(level)) {
      logger[level]({
        event: 'request.finished',
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
