import { fastify as createFastify, type FastifyInstance } from 'fastify';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { eventually } from '../../../../test/support/wait.ts';
import { sendError, toApiError } from '../../../errors/error.filter.ts';
import { acceptJsonBodiesOnly } from '../strict-json.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { IncomingBodies, LoadBound, stopCounting } from './load-bounds.ts';

describe('bodies being received', () => {
  let fastify: FastifyInstance;
  let socket: Socket;
  const bodies = new IncomingBodies(HTTP_LIMITS);
  const uploads = () => bodies['uploads'].size;
  const isFree = async () => uploads() === 0 && bodies['sum'] === 0;
  let begun = 0;

  beforeAll(async () => {
    fastify = createFastify({ bodyLimit: 100 });
    acceptJsonBodiesOnly(fastify);
    bodies.watch(fastify);
    fastify.addHook('preParsing', (_request, _reply, _payload, done) => {
      begun += 1;
      done();
    });
    fastify.post('/', async () => 'done');
    await fastify.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => fastify.close());
  afterEach(() => socket.destroy());

  /** Keeps the connection open, as clients do. */
  function send(headers: string, body: string): void {
    socket = connect((fastify.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined).resume(); // prettier-ignore
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`);
  }
  const JSON_TYPE = 'Content-Type: application/json\r\n';

  it.each([
    ['is complete', `${JSON_TYPE}Content-Length: 2`, '{}'],
    ['is not JSON', `${JSON_TYPE}Content-Length: 2`, 'xx'],
    ['announces too many bytes', `${JSON_TYPE}Content-Length: 101`, '{'],
    ['has too many bytes', `${JSON_TYPE}Transfer-Encoding: chunked`, `c8\r\n${'x'.repeat(200)}\r\n`],
    ['has another content type', 'Content-Type: text/plain\r\nContent-Length: 2', 'xx'],
  ])('releases the memory of one that %s', async (_what, headers, body) => {
    const before = begun;
    send(headers, body);
    await eventually('the body to begin', async () => begun > before);
    await eventually('no upload and no bytes to be left', isFree);
  });

  it('releases the memory of one whose client disconnects, and not before', async () => {
    send(`${JSON_TYPE}Content-Length: 50`, '{');
    await eventually('the body to begin', async () => bodies['sum'] > 0);
    socket.destroy();
    await eventually('no upload and no bytes to be left', isFree);
  });
});

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
