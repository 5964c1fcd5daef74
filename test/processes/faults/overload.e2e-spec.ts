import { setTimeout as sleep } from 'node:timers/promises';
import { type AddressInfo, connect } from 'node:net';
import { Batch } from '../../../src/platform/database/batch.ts';
import { ANSWERED_WHILE_DRAINING, createEdge, type Edge } from '../../../src/platform/http/edge.ts';
import { sendError, toApiError } from '../../../src/errors/error.filter.ts';
import { HTTP_LIMITS, type HttpLimits } from '../../../src/platform/http/limits.ts';
import { aFailure } from '../../support/clients/api.ts';
import { quantile } from '../../support/faults/client.ts';
import { type HostileService, startHostileService } from '../../support/hostile/service.ts';
import { eventually, leastOf } from '../../support/wait.ts';

const MIB = 1024 * 1024;

describe('overload is refused before memory runs out', () => {
  let edge: Edge | undefined;
  let open: (() => void)[] = [];
  afterEach(async () => {
    for (const answer of open) answer();
    await edge?.fastify.close();
  });

  /** Starts the real HTTP edge with one slow route. @returns its base URL */
  async function serve(limits: Partial<HttpLimits>): Promise<string> {
    edge = createEdge({ ...HTTP_LIMITS, ...limits });
    const { fastify } = edge;
    open = [];
    fastify.setErrorHandler((error, request, reply) => sendError(toApiError(error), request.id, reply));
    fastify.get('/healthz', { config: ANSWERED_WHILE_DRAINING }, async () => ({ status: 'ok' }));
    fastify.all('/slow', () => new Promise((resolve) => open.push(() => resolve({ done: true }))));
    await fastify.listen({ port: 0, host: '127.0.0.1' });
    return `http://127.0.0.1:${(fastify.server.address() as AddressInfo).port}`;
  }
  const waiting = async (count: number) => {
    while (open.length < count) await sleep(5);
  };

  it('over the limit of requests: an immediate 503 with Retry-After; health answers; admitted requests are served', async () => {
    const url = await serve({ requestsAtOnce: 100 });
    const inside = Array.from({ length: 100 }, () => fetch(`${url}/slow`));
    await waiting(100);
    let outside: Response[] = [];
    const refusals = async () => {
      const startedAt = performance.now();
      outside = await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/slow`)));
      return performance.now() - startedAt;
    };
    expect(await leastOf(3, 1_000, refusals)).toBeLessThan(1_000);
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

  it('the number of items that wait for the database is limited', async () => {
    const gate = Promise.withResolvers<void>();
    const inFlight = Promise.withResolvers<void>();
    const batch = new Batch<number, number>(
      async (items) => {
        inFlight.resolve();
        await gate.promise;
        return items;
      },
      { maxItems: 10, maxWaiting: 100 },
    );
    const first = batch.add(0);
    await inFlight.promise; // later items wait
    const added = Array.from({ length: 150 }, (_, nth) =>
      batch.add(nth).catch((error: { code: string }) => error.code),
    );
    gate.resolve();
    const answers = await Promise.all(added);
    expect(answers.filter((answer) => answer === 'service_unavailable')).toHaveLength(50);
    expect(await first).toBe(0);
  });
});

describe('600 MiB of incomplete bodies, sent to the real program', () => {
  const BODIES = 600;
  let service: HostileService;
  beforeAll(async () => (service = await startHostileService()));
  afterAll(() => service.close());

  it('do not fill its memory, and do not block other clients', async () => {
    const ordinary = async () => {
      const startedAt = performance.now();
      expect((await service.api.create(aFailure)).status).toBe(201);
      return performance.now() - startedAt;
    };
    await ordinary();
    const before = await service.rss();
    const body = Buffer.alloc(1024 * 1024 - 1, 'x');
    // With a key: a request without one is refused before its body is received.
    const authorization = `Authorization: Bearer ${service.api.key}\r\n`;
    const head = `POST /v1/generations HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: application/json\r\nContent-Length: ${body.length + 1}\r\n\r\n`;
    let refused = 0;
    const sockets = Array.from({ length: BODIES }, () => {
      const socket = connect(service.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('data', (answer: Buffer) => (refused += answer.toString().startsWith('HTTP/1.1 503 ') ? 1 : 0));
      socket.write(head);
      socket.write(body);
      return socket;
    });
    try {
      let highest = before;
      await eventually('all but some to be refused', async () => {
        highest = Math.max(highest, await service.rss());
        return refused > BODIES - 80;
      });
      const took = [];
      for (let nth = 0; nth < 20; nth += 1) took.push(await ordinary());
      highest = Math.max(highest, await service.rss());
      process.stdout.write(
        `${JSON.stringify({ bodies: BODIES, refused, rss_before_mib: before / MIB, rss_highest_mib: highest / MIB, create_p95_ms: quantile(took, 0.95) })}\n`,
      );
      expect(highest - before).toBeLessThan(300 * MIB);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
