import { type AddressInfo, connect } from 'node:net';
import { eventually } from '../../../test/support/wait.ts';
import { sendError, toApiError } from '../../errors/error.filter.ts';
import { ANSWERED_WHILE_DRAINING, createEdge, type Edge } from './edge.ts';
import { HTTP_LIMITS, type HttpLimits } from './limits.ts';

describe('overload is refused before memory runs out', () => {
  let edge: Edge | undefined;
  let open: (() => void)[] = [];
  let largeAnswers = 0;
  afterEach(async () => {
    for (const answer of open) answer();
    await edge?.fastify.close();
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
