import type { FastifyInstance, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

const ACCEPTABLE_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own `x-request-id` if it is safe in logs and headers, otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTABLE_ID.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  return `req_${randomUUID()}`;
}

/** The routes of monitors. They need no API key, exist in every role of the process, and are logged at `debug` only. */
export const HEALTH_PATHS = { liveness: '/healthz', readiness: '/readyz', metrics: '/metrics' } as const;

const healthPaths: ReadonlySet<string> = new Set(Object.values(HEALTH_PATHS));

export const isHealthPath = (path: string): boolean => healthPaths.has(path);

type Route = FastifyRequest['routeOptions'];
type RoutedRequest = Pick<FastifyRequest, 'routeOptions'> & { [ROUTE]?: Route | null };

const ROUTE = Symbol('route');

/**
 * Declares the property in which `routeOf` keeps the route of a request. Call this before requests arrive: an object
 * that gets a property later is slower to read.
 */
export function keepRoutes(fastify: FastifyInstance): void {
  fastify.decorateRequest(ROUTE, null);
}

/** The options of the route that a request matched. They are kept, because Fastify builds them again at each read. */
export function routeOf(request: RoutedRequest): Route {
  return (request[ROUTE] ??= request.routeOptions);
}

/** Whether a request announces a body. Many clients send a Content-Type, or `Content-Length: 0`, without a body. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

const replaced = new WeakMap<IncomingMessage, Readable>();

export const replaceBody = (raw: IncomingMessage, body: Readable): void => void replaced.set(raw, body);

/** The body of a request. Read this stream instead of `raw`: it limits how many tiny chunks a body may have. */
export const bodyOf = (raw: IncomingMessage): Readable => replaced.get(raw) ?? raw;

/** Whether `If-None-Match` contains this tag, by weak comparison, or is `*` (RFC 9110, 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}
