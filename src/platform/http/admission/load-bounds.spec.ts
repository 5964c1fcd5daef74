import { fastify as createFastify, type FastifyInstance, type FastifyReply } from 'fastify';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { eventually } from '../../../../test/support/wait.ts';
import { sendError, toApiError } from '../../../errors/error.filter.ts';
import { acceptJsonBodiesOnly } from '../strict-json.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { IncomingBodies, LoadBound, STREAM_BYTES, stopCounting, UnreadAnswers } from './load-bounds.ts';

const MIB = 1024 * 1024;
/** More than the buffers of a connection in the kernel take. */
const ANSWER_BYTES = 16 * MIB;

const endless = () =>
  new Readable({
    read() {
      this.push(Buffer.alloc(STREAM_BYTES));
    },
  });

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

describe('answers that are not read', () => {
  const limits = { unreadBytesAtOnce: 0 };
  const answers = new UnreadAnswers(limits);
  const sockets: Socket[] = [];
  const late: FastifyReply[] = [];
  let fastify: FastifyInstance;

  beforeAll(async () => {
    fastify = createFastify();
    answers.watch(fastify);
    fastify.get('/', async () => 'x'.repeat(ANSWER_BYTES));
    fastify.get('/small', async () => 'x');
    fastify.get('/late', (_request, reply) => void late.push(reply));
    fastify.get('/file', async (_request, reply) => reply.send(endless()));
    fastify.get('/events', async (_request, reply) => reply.send(endless()));
    await fastify.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => fastify.close());
  beforeEach(() => {
    limits.unreadBytesAtOnce = 4 * ANSWER_BYTES;
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually('nothing to be left', async () => answers.bytes === 0);
  });

  /** Asks, and reads nothing. */
  function ask(key: string, path = '/'): Socket {
    const { port } = fastify.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    sockets.push(socket);
    return socket;
  }
  const held = (count: number, bytes = ANSWER_BYTES) =>
    eventually(`${count} answers to be held`, async () => answers.bytes === count * bytes);
  const cut = (socket: Socket) => {
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    return closed;
  };

  it('are bounded: the oldest of the caller that holds most is cut, and no other', async () => {
    const other = ask('other');
    await held(1);
    const greedy: Socket[] = [];
    for (let count = 2; count <= 4; count += 1) {
      greedy.push(ask('greedy'));
      await held(count);
    }
    ask('greedy');
    await cut(greedy[0]!);
    await held(4);
    let read = 0;
    other.on('data', (chunk: Buffer) => (read += chunk.length));
    await eventually('the answer of the other caller to arrive', async () => read > ANSWER_BYTES);
  });

  it('count until they are read', async () => {
    const socket = ask('reader');
    await held(1);
    socket.resume();
    await held(0);
  });

  it('count alike as streams, however long, and are cut alike; streams of events do not count', async () => {
    limits.unreadBytesAtOnce = 4 * STREAM_BYTES;
    ask('follower', '/events');
    ask('reader', '/file');
    await held(1, STREAM_BYTES);
    const first = ask('greedy', '/file');
    for (let count = 3; count <= 4; count += 1) {
      ask('greedy', '/file');
      await held(count, STREAM_BYTES);
    }
    ask('greedy', '/file');
    await cut(first);
    await held(4, STREAM_BYTES);
  });

  it('are not counted when the client has gone before', async () => {
    const socket = ask('gone', '/late');
    await eventually('the request inside', async () => late.length === 1);
    socket.destroy();
    const [answer] = late;
    await eventually('the service to notice', async () => answer!.raw.destroyed);
    answer!.send('x'.repeat(ANSWER_BYTES));
    expect(answers.bytes).toBe(0);
  });

  it('are not counted when they are small', async () => {
    const socket = ask('reader', '/small');
    await new Promise((resolve) => socket.once('data', resolve));
    expect(answers.bytes).toBe(0);
  });
});
