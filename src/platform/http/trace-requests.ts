import type { FastifyInstance, FastifyRequest } from 'fastify';
import { currentScope, type OpenSpan } from '../observe/traces/span.ts';
import { traces } from '../observe/traces/traces.ts';
import { isHealthPath } from './health-paths.ts';
import { routeOf } from './route-of.ts';

const spans = new WeakMap<FastifyRequest, OpenSpan>();

/** The span of a request, if it is sampled. */
export const spanOf = (request: FastifyRequest): OpenSpan | undefined => spans.get(request);

/** A span for each sampled request, named by the pattern of its route. Health routes have none. */
export function traceRequests(fastify: FastifyInstance): void {
  if (!traces.isOn) return;
  fastify.addHook('onRequest', (request, _reply, done) => {
    const route = routeOf(request).url;
    if (route !== undefined && isHealthPath(route)) {
      done();
      return;
    }
    const name = route === undefined ? request.method : `${request.method} ${route}`;
    const attributes = { 'http.request.method': request.method, 'http.route': route };
    const span = traces.accept(name, request.headers.traceparent, attributes);
    if (span) {
      spans.set(request, span);
      currentScope.run({ span, stage: null }, done);
    } else done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode >= 400) spans.get(request)?.set({ 'darkroom.error.code': codeIn(payload) });
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request);
    if (span) {
      span.set({ 'http.response.status_code': reply.statusCode });
      if (reply.statusCode >= 500) span.fail(String(reply.statusCode));
      span.end();
    }
    done();
  });
}

/** Of an `ErrorBody`. */
function codeIn(payload: unknown): string | undefined {
  if (typeof payload !== 'string') return undefined;
  try {
    return (JSON.parse(payload) as { error?: { code?: string } } | null)?.error?.code;
  } catch {
    return undefined;
  }
}
