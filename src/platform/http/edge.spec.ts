import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { eventually } from '../../../test/support/wait.ts';
import { sendError, toApiError } from '../../errors/error.filter.ts';
import { ANSWERED_WHILE_DRAINING, createEdge, type Edge } from './edge.ts';
import { HTTP_LIMITS, type HttpLimits } from './limits.ts';
import type { FileBody } from './multipart/file-body.ts';
import type { MultipartBody } from './multipart/multipart-body.ts';
import { bodyOf } from './request.ts';

/** A connection that a client keeps would hold the server open. */
async function end(edge: Edge | undefined): Promise<void> {
  edge?.fastify.server.closeAllConnections();
  await edge?.fastify.close();
}

function watchClose(socket: Socket, closed: Set<Socket>): void {
  socket
    .resume()
    .on('error', () => undefined)
    .on('close', () => closed.add(socket));
}

describe('overload is refused before memory runs out', () => {
  let edge: Edge | undefined;
  let open: (() => void)[] = [];
  let largeAnswers = 0;
  afterEach(async () => {
    for (const answer of open) answer();
    await end(edge);
  });

  /** Starts the real HTTP edge with one slow route. @returns its base URL */
  async function serve(limits: Partial<HttpLimits>): Promise<string> {
    edge = createEdge({ ...HTTP_LIMITS, ...limits });
    const { fastify } = edge;
    open = [];
    largeAnswers = 0;
    fastify.setErrorHandler((error, request, reply) => sendError(toApiError(error), request.id, reply));
    fastify.get('/healthz', { config: ANSWERED_WHILE_DRAINING }, async () => ({ status: 'ok' }));
    fastify.get('/large', async () => {
      largeAnswers += 1;
      return Buffer.alloc(50_000_000);
    });
    fastify.all('/slow', () => new Promise((resolve) => open.push(() => resolve({ done: true }))));
    await fastify.listen({ port: 0, host: '127.0.0.1' });
    return `http://127.0.0.1:${(fastify.server.address() as AddressInfo).port}`;
  }
  const waiting = (count: number) => eventually(`${count} requests inside`, async () => open.length >= count);

  it('over the limit of requests: an immediate 503 with Retry-After; health answers; admitted requests are served', async () => {
    const url = await serve({ requestsAtOnce: 100 });
    const inside = Array.from({ length: 100 }, () => fetch(`${url}/slow`));
    await waiting(100);
    // They are answered while the admitted ones wait.
    const outside = await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/slow`)));
    for (const reply of outside) {
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await reply.json()).toMatchObject({ error: { type: 'server_error', code: 'service_unavailable' } });
    }
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    for (const answer of open.splice(0)) answer();
    expect((await Promise.all(inside)).map(({ status }) => status)).toEqual(inside.map(() => 200));
    const again = fetch(`${url}/slow`);
    await waiting(1);
    for (const answer of open.splice(0)) answer();
    expect((await again).status).toBe(200);
  });

  it('clients that take nothing of their answer lose their place, those that wait for it do not', async () => {
    const url = await serve({ stallMs: 100, requestsAtOnce: 2 });
    const waits = fetch(`${url}/slow`);
    await waiting(1);
    const stalled = connect(Number(new URL(url).port), '127.0.0.1').pause();
    stalled.on('error', () => undefined).write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(
      'the place of the stalled one to be free',
      async () => largeAnswers === 1 && edge!.load.active === 1,
    );
    stalled.destroy();
    for (const answer of open.splice(0)) answer();
    expect((await waits).status).toBe(200);
  });

  it('one address can take its share of the connections only, so that others reach the service', async () => {
    const url = await serve({ connectionsAtOnce: 20, connectionsOfAddress: 10 });
    const port = Number(new URL(url).port);
    const closed = new Set<Socket>();
    const flood = Array.from({ length: 30 }, () => connect(port, '127.0.0.1'));
    for (const socket of flood) watchClose(socket, closed);
    for (const socket of flood) socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('those over the share to be refused', async () => closed.size === 20);
    const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    other.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(String((await once(other, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /);
    other.destroy();
    for (const socket of flood) socket.destroy();
  });

  it('over three eighths of the limit of connections: answers end theirs, idle and half-open ones are closed, and those in use stay', async () => {
    const url = await serve({ connectionsAtOnce: 16, headersTimeoutMs: 90_000, requestTimeoutMs: 90_000 });
    const inside = Array.from({ length: 7 }, () => fetch(`${url}/slow`));
    await waiting(7);
    const idle = Array.from({ length: 4 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
    const closed = new Set<Socket>();
    for (const socket of idle) watchClose(socket, closed);
    idle[0]!.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    idle[1]!.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: ');
    // The ones without a whole header would be closed after 90 s anyway, the other one after 72 s.
    await eventually('the idle ones to be closed', async () => closed.size === 4, 50_000);
    expect((await fetch(`${url}/healthz`)).headers.get('connection')).toBe('close');
    for (const answer of open.splice(0)) answer();
    expect((await Promise.all(inside)).map(({ status }) => status)).toEqual(inside.map(() => 200));
  });

  it('over three eighths of the limit of connections: an answer that is read slowly arrives whole', async () => {
    const url = await serve({ connectionsAtOnce: 8 });
    const port = Number(new URL(url).port);
    const slow = connect(port, '127.0.0.1').pause();
    slow.on('error', () => undefined).write('GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await eventually('the answer', async () => largeAnswers === 1);
    const closed = new Set<Socket>();
    const idle = Array.from({ length: 3 }, () => connect(port, '127.0.0.1'));
    for (const socket of idle) watchClose(socket, closed);
    for (const socket of idle) socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('the idle ones to be closed', async () => closed.size === 3);
    let bytes = 0;
    slow.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    await once(slow, 'close');
    expect(bytes).toBeGreaterThan(50_000_000);
  });

  it('an answer that is read slowly arrives whole while the process stops', async () => {
    const url = await serve({});
    const port = Number(new URL(url).port);
    const slow = connect(port, '127.0.0.1').pause();
    slow.on('error', () => undefined).write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('the answer', async () => largeAnswers === 1);
    const idle = connect(port, '127.0.0.1').resume();
    await once(idle, 'connect');
    edge!.startDraining();
    const closed = edge!.connections.left().then(() => edge!.fastify.close());
    await once(idle, 'close');
    let looks = 0; // the server closes within four of them if nothing holds it
    await eventually('its close', async () => !edge!.fastify.server.listening || (looks += 1) > 20);
    let bytes = 0;
    slow.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    await Promise.all([closed, once(slow, 'close')]);
    expect(bytes).toBeGreaterThan(50_000_000);
  });

  it('clients that disconnect free their places', async () => {
    const url = await serve({ requestsAtOnce: 10 });
    const gone = new AbortController();
    const left = Array.from({ length: 10 }, () => fetch(`${url}/slow`, { signal: gone.signal }).catch(() => null));
    await waiting(10);
    expect((await fetch(`${url}/slow`)).status).toBe(503);
    gone.abort();
    await Promise.all(left);
    let next: Promise<Response> | undefined;
    await eventually('a place to be free', async () => {
      next = fetch(`${url}/slow`);
      const isRefused = next.then(({ status }) => status === 503);
      return !(await Promise.race([isRefused, waiting(11).then(() => false)]));
    });
    for (const answer of open.splice(0)) answer();
    expect((await next!).status).toBe(200);
  });

  it('over the limit of body bytes: further large bodies are refused', async () => {
    const url = await serve({ bodyBytesAtOnce: 2_000_000 });
    const body = JSON.stringify({ filling: 'x'.repeat(900_000) });
    const send = () => fetch(`${url}/slow`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    const inside = [send(), send(), send()];
    await waiting(3);
    expect((await send()).status).toBe(503);
    for (const answer of open.splice(0)) answer();
    expect((await Promise.all(inside)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('over the limit of incoming bytes: the oldest incomplete body is refused, others continue', async () => {
    const url = await serve({ incomingBytesAtOnce: 500_000 });
    const begin = async (bytes: number) => {
      const head = `POST /slow HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes + 1}\r\n\r\n`;
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      let answer = '';
      socket.on('error', () => undefined).on('data', (bytes: Buffer) => (answer += bytes.toString()));
      socket.write(head + '"'.padEnd(bytes, 'x'));
      return { socket, answer: () => answer };
    };
    const slowBodies = [];
    for (let nth = 0; nth < 4; nth += 1) slowBodies.push(await begin(90_000));
    for (let nth = 0; nth < 3; nth += 1) {
      const quick = fetch(`${url}/slow`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      });
      await waiting(1);
      for (const answer of open.splice(0)) answer();
      expect((await quick).status).toBe(200);
    }
    expect(slowBodies.map(({ answer }) => answer())).toEqual(['', '', '', '']);
    const [oldest, ...rest] = slowBodies;
    const more = [await begin(90_000), await begin(90_000)];
    await eventually('the oldest to be refused', async () => oldest!.answer().includes('service_unavailable'));
    expect(oldest!.answer()).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 1\r\n/i);
    for (const { socket } of [...rest, ...more]) socket.write('"'); // the last byte
    await waiting(5);
    for (const answer of open.splice(0)) answer();
    for (const { answer } of [...rest, ...more]) {
      await eventually('an answer', async () => answer().startsWith('HTTP/1.1 200 '));
    }
    for (const { socket } of [...slowBodies, ...more]) socket.destroy();
  });
});

describe('a body in chunks', () => {
  let edge: Edge;
  let sockets: Socket[] = [];
  let inside: IncomingMessage[] = [];
  /** A key may have one upload. Those of the other tests count for no common key. */
  const ownerOf = (headers: IncomingHttpHeaders) => String(headers['x-owner'] ?? randomUUID());
  const OWNED = '\r\nX-Owner: key_a';
  const late = Promise.withResolvers<void>();
  const lateEnds: string[] = [];
  beforeAll(async () => {
    edge = createEdge({ ...HTTP_LIMITS, uploads: { ...HTTP_LIMITS.uploads, atOnceOfOwner: 1 } });
    const { fastify } = edge;
    fastify.setErrorHandler((error, request, reply) => sendError(toApiError(error), request.id, reply));
    fastify.post('/json', async ({ body }) => ({ characters: JSON.stringify(body).length }));
    fastify.post('/late-form', { config: { body: { multipart: true } } }, async ({ body, headers }) => {
      await late.promise;
      const reading = (body as MultipartBody).read({ owner: ownerOf(headers) });
      await reading.then(
        () => lateEnds.push('read'),
        () => lateEnds.push('refused'),
      );
      return {};
    });
    fastify.post('/form', { config: { body: { multipart: true } } }, async ({ body, headers }) => {
      const { dispose } = await (body as MultipartBody).read({ owner: ownerOf(headers) });
      await dispose();
      return {};
    });
    fastify.post('/file', { config: { body: { signedFile: true } } }, async ({ body, headers }) => {
      const { bytes, dispose } = await (body as FileBody).read(ownerOf(headers));
      await dispose();
      return { bytes };
    });
    fastify.post('/waits', { config: { body: { signedFile: true } } }, ({ raw }) => {
      inside.push(raw);
      return new Promise(() => undefined);
    });
    await fastify.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => end(edge));
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    [sockets, inside] = [[], []];
  });

  /** Writes all at once, as a client does that reads only when it has sent its body. */
  function send(path: string, chunks: string, contentType = 'application/json') {
    const socket = connect((edge.fastify.server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    let answer = '';
    socket.on('error', () => undefined).on('data', (bytes) => (answer += bytes.toString()));
    const type = `Content-Type: ${contentType}\r\nTransfer-Encoding: chunked`;
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${type}\r\n\r\n${chunks}`);
    return {
      answer: () => answer,
      write: (more: string) => socket.write(more),
      answered: (status: number) =>
        eventually(`the answer ${status}`, async () => answer.startsWith(`HTTP/1.1 ${status} `)),
      closed: () => eventually('the connection to be closed', async () => socket.closed),
    };
  }
  const upload = () => {
    const { port } = edge.fastify.server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${port}/file`, { method: 'POST', body: 'x', headers: { 'x-owner': 'key_a' } });
  };
  const chunksOf = (text: string, size: number) =>
    (text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [])
      .map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
      .join('');
  const END = '0\r\n\r\n';
  const json = (characters: number) => JSON.stringify('x'.repeat(characters - 2));

  it.each([
    ['JSON of 1 MB in chunks of 500 bytes', '/json', 1_000_000, 500, 200],
    ['JSON in 4,000 chunks of a byte', '/json', 4_000, 1, 200],
    ['a file of 1 MB in chunks of 500 bytes', '/file', 1_000_000, 500, 200],
    ['a file in 4,000 chunks of a byte', '/file', 4_000, 1, 200],
    ['1 MB in chunks of 500 bytes that nobody reads', '/none', 1_000_000, 500, 404],
  ])('is taken to its end: %s', async (_what, path, bytes, size, status) => {
    const request = send(path, chunksOf(json(bytes), size) + END);
    await request.answered(status);
    if (status === 200) expect(request.answer()).toMatch(new RegExp(`"(bytes|characters)":${bytes}}$`));
    request.write('GET /next HTTP/1.1\r\nHost: x\r\n\r\n'); // the connection is kept
    await eventually('the next answer', async () => request.answer().split('HTTP/1.1 ').length === 3);
  });

  it.each([
    ['JSON', '/json', ''],
    ['a file', '/file', ''],
    ['a file after many bytes', '/file', json(500_000)],
    ['a file that its handler does not read yet', '/waits', ''],
  ])('in very many tiny chunks is refused, and its connection closed: %s', async (_what, path, before) => {
    const request = send(path, chunksOf(before, 50_000) + chunksOf(json(10_000), 1));
    await request.answered(400);
    expect(request.answer()).toContain('"code":"bad_request"');
    await request.closed();
  });

  it.each([
    ['/file', 'image/png'],
    ['/form', 'multipart/form-data; boundary=x'],
  ])('gives back the place of its upload when it is refused while %s reads it', async (path, type) => {
    const request = send(path, '1\r\n-\r\n', type + OWNED);
    await eventually('its place to be taken', async () => (await upload()).status === 429);
    request.write(chunksOf(json(10_000), 1));
    await request.answered(400);
    await request.closed();
    await eventually('its place to be free', async () => (await upload()).status === 200);
  });

  it('takes no place when it was refused before its handler reads it', async () => {
    const request = send('/late-form', chunksOf(json(8_000), 1) + END, `multipart/form-data; boundary=x${OWNED}`);
    await request.answered(400);
    await request.closed();
    late.resolve();
    await eventually('the handler to end', async () => lateEnds.length === 1);
    expect((await upload()).status).toBe(200);
  });

  it('in very many tiny chunks ends its connection when it was refused before', async () => {
    const request = send('/none', chunksOf(json(100), 1));
    await request.answered(404);
    request.write(chunksOf(json(10_000), 1));
    await request.closed();
    expect(request.answer().split('HTTP/1.1 ')).toHaveLength(2);
  });

  it('reaches its reader in large pieces', async () => {
    const request = send('/waits', chunksOf(json(30_000), 100));
    await eventually('the request inside', async () => inside.length === 1);
    let [pieces, bytes] = [0, 0];
    bodyOf(inside[0]!).on('data', (piece: Buffer) => {
      pieces += 1;
      bytes += piece.length;
    });
    await eventually('all bytes', async () => bytes === 30_000);
    expect(pieces).toBeLessThan(30);
    expect(request.answer()).toBe('');
  });
});
