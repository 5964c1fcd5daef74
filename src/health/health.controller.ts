import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { errorHeaders, toErrorBody } from '../errors/error.filter.ts';
import { ANSWERED_WHILE_DRAINING } from '../platform/http/edge.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Readiness } from '../platform/readiness.ts';

/** Plain routes of the server rather than a controller: the guard that asks for keys stands in front of controllers. */
export function serveHealth(fastify: FastifyInstance, readiness: Readiness, metrics: Metrics): void {
  fastify.get('/healthz', { config: ANSWERED_WHILE_DRAINING }, (_request, reply) => {
    void reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });

  fastify.get('/readyz', async (request, reply) => {
    const { ready, checks } = await readiness.report();
    void reply.header('cache-control', 'no-store');
    if (ready) return { status: 'ok', checks };
    const bad = Object.keys(checks).filter((name) => checks[name] !== 'ok');
    const error = new ApiError('service_unavailable', { message: `Not ready: ${bad.join(', ')}.` });
    void reply.code(error.status).headers(errorHeaders(error));
    return { status: 'unavailable', checks, ...toErrorBody(error, request.id) };
  });

  fastify.get('/metrics', { config: ANSWERED_WHILE_DRAINING }, async (_request, reply) => {
    void reply.type(metrics.registry.contentType).header('cache-control', 'no-store');
    return metrics.registry.metrics();
  });
}
