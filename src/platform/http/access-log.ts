import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import type { NestLogger } from '../observe/logging/logging.ts';
import { traceFieldsOf } from '../observe/traces/span.ts';
import { isHealthPath } from './health-paths.ts';
import { spanOf } from './trace-requests.ts';
import { routeOf } from './route-of.ts';

const traceOf = (request: FastifyRequest) => {
  const span = spanOf(request);
  return span && traceFieldsOf(span);
};

/** From this status on `LOG_REQUESTS=errors` logs a request. */
const FIRST_ERROR_STATUS = 400;

/**
 * Logs one line per request: the pattern of its route, never its address, which may hold a signature. Health routes are
 * logged at `debug`: monitors poll them every few seconds, and their lines would bury the others.
 */
export function logRequests(fastify: FastifyInstance, log: NestLogger, which: Config['logRequests']): void {
  if (which === 'none') return;
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = routeOf(request).url;
    if (which === 'all' || reply.statusCode >= FIRST_ERROR_STATUS) {
      log.one(route !== undefined && isHealthPath(route) ? 'debug' : 'info', 'requests', () => ({
        event: 'request.finished',
        request_id: request.id,
        ...traceOf(request),
        method: request.method,
        route: route ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      }));
    }
    done();
  });
}
