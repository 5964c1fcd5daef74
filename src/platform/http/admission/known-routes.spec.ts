import fastifyOf from 'fastify';
import { KnownRoutes } from './known-routes.ts';

const answer = async () => 'x';

describe('the methods of a path', () => {
  const fastify = fastifyOf();
  const routes = new KnownRoutes(fastify);
  fastify.get('/tasks/counts', answer);
  fastify.get('/tasks/:id', answer);
  fastify.delete('/tasks/:id', answer);
  fastify.post('/tasks/:id/cancel', answer);
  fastify.get('/docs/*', answer);

  it.each([
    ['/tasks/counts', 'GET, HEAD, OPTIONS'],
    ['/tasks/1', 'GET, HEAD, DELETE, OPTIONS'],
    ['/tasks/1/cancel', 'POST, OPTIONS'],
    ['/docs/a/b', 'GET, HEAD, OPTIONS'],
    ['/tasks//cancel', ''],
    ['/nothing', ''],
  ])('are those of the route that names most of it: %s', (path, methods) => {
    expect(routes.allowedAt(path)).toBe(methods);
  });
});
