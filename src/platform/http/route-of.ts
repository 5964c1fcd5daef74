import type { FastifyInstance, FastifyRequest } from 'fastify';

type Route = FastifyRequest['routeOptions'];
type RoutedRequest = Pick<FastifyRequest, 'routeOptions'> & { [ROUTE]?: Route | null };

const ROUTE = Symbol('route');

/** Call before requests arrive: an object that gets a property later is slower to read. */
export function keepRoutes(fastify: FastifyInstance): void {
  fastify.decorateRequest(ROUTE, null);
}

/** The options of the route that a request matched. Fastify builds them at each read, and ten places read them. */
export function routeOf(request: RoutedRequest): Route {
  return (request[ROUTE] ??= request.routeOptions);
}
