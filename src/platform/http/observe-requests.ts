import { Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { renderedErrors, serverErrorOf } from '../../errors/error-metrics.ts';
import { CALL_BUCKETS, WORK_BUCKETS } from '../observe/measuring/buckets.ts';
import { closedLabel, OTHER } from '../observe/measuring/closed-label.ts';
import { declare, histogram } from '../observe/measuring/declare.ts';
import type { Metrics } from '../observe/measuring/metrics.ts';
import type { Edge } from './edge.ts';
import { isHealthPath, routeOf } from './request.ts';
import type { Config } from '../config/config.ts';
import type { NestLogger } from '../observe/logging/logging.ts';
import { currentScope, type OpenSpan, traceFieldsOf } from '../observe/traces/span.ts';
import { traces } from '../observe/traces/traces.ts';

declare(renderedErrors);

const LABELS = ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'] as const;

const requestSeconds = histogram(
  'http_server_request_duration_seconds',
  'Time from the first byte of a request to the last of its answer, without the time for which it waited on purpose.',
  CALL_BUCKETS,
  LABELS,
);

const waitSeconds = histogram(
  'darkroom_http_wait_seconds',
  'Time for which a request waited on purpose: for its task, as an event stream, or as a WebSocket.',
  WORK_BUCKETS,
  ['kind'],
);

/**
 * - `prefer`: a creation that is answered with the outcome of its task
 * - `long_poll`: a read that waits for a change
 * - `stream`: an event stream
 * - `socket`: a WebSocket
 */
export type WaitKind = 'prefer' | 'long_poll' | 'stream' | 'socket';

const methodOf = closedLabel(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Seconds for which requests in flight have waited on purpose. */
const waits = new WeakMap<FastifyRequest, number>();
/** When the answer to a request became a stream, in milliseconds of the monotonic clock. */
const streams = new WeakMap<FastifyRequest, number>();

/** Runs `wait`. The time of `wait` does not count as processing time. */
export async function waitingOnPurpose<Result>(
  request: FastifyRequest,
  kind: WaitKind,
  wait: () => Promise<Result>,
): Promise<Result> {
  const begunMs = performance.now();
  try {
    return await wait();
  } finally {
    const seconds = (performance.now() - begunMs) / 1000;
    waits.set(request, (waits.get(request) ?? 0) + seconds);
    waitSeconds.observe({ kind }, seconds);
  }
}

/**
 * Marks the request as an event stream. From now on its time does not count as processing time, because a stream is
 * open as long as its client wants.
 */
export function becomesStream(request: FastifyRequest): void {
  streams.set(request, performance.now());
}

/** Records how long a WebSocket was open. */
export function socketClosedAfter(seconds: number): void {
  waitSeconds.observe({ kind: 'socket' satisfies WaitKind }, seconds);
}

/**
 * The most series of requests. Each series adds 17 lines to the scrape. Further series have the route `other`.
 */
const MOST_SERIES = 120;
type Labels = Partial<Record<(typeof LABELS)[number], string>>;
const series = new Map<string, Labels>();

export function measureRequests(fastify: FastifyInstance): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply;
    const failure = statusCode >= 500 ? (serverErrorOf(reply.raw) ?? String(statusCode)) : '';
    const route = routeOf(request).url ?? ''; // the pattern, never the URL: every task would be a series of its own
    const labels = labelsOf(request.method, String(statusCode), failure, route);
    requestSeconds.observe(labels, Math.max(0, reply.elapsedTime / 1000 - waitedBy(request)));
    done();
  });
}

function labelsOf(method: string, status: string, failure: string, route: string): Labels {
  const kind = `${method} ${status} ${failure} ${route}`;
  const known = series.get(kind);
  if (known) return known;
  const isFull = series.size >= MOST_SERIES;
  const shown = isFull && route !== '' ? OTHER : route;
  const labels: Labels = { http_request_method: methodOf(method), http_response_status_code: status };
  if (shown !== '') labels.http_route = shown;
  if (failure !== '') labels.error_type = failure;
  if (!isFull) series.set(kind, labels);
  return labels;
}

function waitedBy(request: FastifyRequest): number {
  const waited = waits.get(request) ?? 0;
  const streamedFromMs = streams.get(request);
  if (streamedFromMs === undefined) return waited;
  const streamed = (performance.now() - streamedFromMs) / 1000;
  waitSeconds.observe({ kind: 'stream' satisfies WaitKind }, streamed);
  return waited + streamed;
}

export function registerLoadMetrics(metrics: Metrics, { load }: Edge): void {
  metrics.gauge(
    'http_server_active_requests',
    'Requests that are received completely and not answered, without those that only wait and event streams.',
    () => load.active,
  );
  metrics.gauge(
    'darkroom_http_body_bytes_in_flight',
    'Bytes of the bodies of these requests, as announced.',
    () => load.bodyBytesInFlight,
  );
}

const traceOf = (request: FastifyRequest) => {
  const span = spanOf(request);
  return span && traceFieldsOf(span);
};

/** From this status on `LOG_REQUESTS=errors` logs a request. */
const FIRST_ERROR_STATUS = 400;

/**
 * Logs one line per request, with the pattern of its route. The address is left out, because it may hold a signature.
 * Health routes are logged at `debug`: monitors poll them every few seconds, and their lines would bury the others.
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

const spans = new WeakMap<FastifyRequest, OpenSpan>();

/** The span of a request; undefined if the request is not sampled. */
const spanOf = (request: FastifyRequest): OpenSpan | undefined => spans.get(request);

/** Opens a span for each sampled request, named by the method and the pattern of the route. Health routes have none. */
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

/** The error code in an `ErrorBody`; undefined for any other payload. */
function codeIn(payload: unknown): string | undefined {
  if (typeof payload !== 'string') return undefined;
  try {
    return (JSON.parse(payload) as { error?: { code?: string } } | null)?.error?.code;
  } catch {
    return undefined;
  }
}

/**
 * Warns once if a proxy seems to be in front: then all its clients have the proxy's address. X-Forwarded-For is not
 * believed, because anybody can send it.
 */
export function warnOfUntrustedProxy(fastify: FastifyInstance, trustedProxies: readonly string[]): void {
  if (trustedProxies.length > 0) return;
  const logger = new Logger('requests');
  let isSaid = false;
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!isSaid && request.headers['x-forwarded-for'] !== undefined) {
      isSaid = true;
      const msg =
        'Requests come with X-Forwarded-For, and TRUSTED_PROXIES is not set: failed sign-ins, requests without a key and audit ' +
        'events count all clients of a proxy as one. Set it to the address range of the proxy.';
      logger.warn({ event: 'proxy.untrusted', address: request.ip, msg });
    }
    done();
  });
}
