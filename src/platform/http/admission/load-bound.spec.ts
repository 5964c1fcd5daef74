import { fastify as createFastify } from 'fastify';
import { sendError, toApiError } from '../../../errors/error.filter.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { LoadBound, stopCounting } from './load-bound.ts';

describe('the bound on requests in flight', () => {
  it('does not count a request that only waits', async () => {
    const fastify = createFastify();
    fastify.setErrorHandler((error, request, reply) => sendError(toApiError(error), request.id, reply));
    new LoadBound({ ...HTTP_LIMITS, requestsAtOnce: 1 }).count(fastify, () => false);
    const over = Promise.withResolvers<void>();
    const arrived: string[] = [];
    fastify.post('/:kind', async (request) => {
      const { kind } = request.params as { kind: string };
      arrived.push(kind);
      if (kind === 'waits') stopCounting(request);
      await over.promise;
      return { body: request.body ?? null };
    });
    const post = (kind: string) => fastify.inject({ method: 'POST', url: `/${kind}`, payload: { large: true } });

    const waiting = [post('waits'), post('waits'), post('counts')];
    while (arrived.length < 3) await new Promise(setImmediate);
    expect((await post('counts')).statusCode).toBe(503);
    over.resolve();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect(answers.map((answer) => answer.json().body)).toEqual([null, null, { large: true }]);
    expect((await post('counts')).statusCode).toBe(200);
    await fastify.close();
  });
});
