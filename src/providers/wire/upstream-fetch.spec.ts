import { jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { stopClock } from '../../../test/support/clock.ts';
import { makeCertificate } from '../../../test/support/servers/certificate.ts';
import { eventually } from '../../../test/support/wait.ts';
import { upstreamFetch, type UpstreamCall, UpstreamFailure } from './upstream-fetch.ts';

const { signal } = new AbortController();
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function serve(listener: RequestListener, make: (listener: RequestListener) => Server = createServer) {
  const seen = { requests: 0, connections: 0 };
  const server = make((request, response) => {
    seen.requests++;
    listener(request, response);
  });
  server.on('connection', () => seen.connections++).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return { seen, port: (server.address() as AddressInfo).port };
}

async function failureOf(url: string, call: Partial<UpstreamCall>): Promise<UpstreamFailure> {
  const failure = await upstreamFetch(url, { signal, ...call }).catch((error: unknown) => error);
  if (failure instanceof UpstreamFailure) return failure;
  throw new Error(`no failure but ${JSON.stringify(failure)}`);
}

it('sends a paid call once, on a fresh connection, without a retry', async () => {
  const { seen, port } = await serve((request) => request.socket.destroy());
  for (let time = 1; time <= 3; time++) {
    expect(await failureOf(`http://127.0.0.1:${port}`, { method: 'POST', json: {} })).toMatchObject({ sent: true });
    expect(seen).toEqual({ requests: time, connections: time });
  }
});

it('reuses connections for reads only', async () => {
  const { seen, port } = await serve((_request, response) => response.end('{}'));
  const url = `http://127.0.0.1:${port}`;
  for (let time = 0; time < 3; time++) await upstreamFetch(url, { signal });
  const kept = seen.connections;
  expect(kept).toBeLessThan(3);
  for (let time = 0; time < 3; time++) await upstreamFetch(url, { method: 'POST', json: {}, signal });
  expect(seen.connections).toBe(kept + 3);
});

it('reports that nothing was sent if no connection was opened', async () => {
  const { port } = await serve(
    () => undefined,
    (listener) => createTlsServer(makeCertificate('127.0.0.1'), listener),
  );
  const json = {};
  for (const url of ['http://127.0.0.1:9', 'http://nowhere.invalid', `https://127.0.0.1:${port}`])
    expect(await failureOf(url, { method: 'POST', json })).toMatchObject({ sent: false, timedOut: false });
});

it('times out, and then reports the call as sent', async () => {
  const { port } = await serve(() => undefined);
  const call = { method: 'POST', json: {}, timeoutMs: 50 } as const;
  expect(await failureOf(`http://127.0.0.1:${port}`, call)).toMatchObject({ sent: true, timedOut: true });
});

it('counts a body that arrives too slowly as no answer', async () => {
  const begun = Promise.withResolvers<ServerResponse>();
  const { port } = await serve((_request, response) => {
    response.write(' ', () => begun.resolve(response));
  });
  stopClock();
  try {
    const failure = failureOf(`http://127.0.0.1:${port}`, { timeoutMs: 60_000 });
    const response = await begun.promise;
    for (let s = 0; s < 60; s += 1) {
      response.write(' ');
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(await failure).toMatchObject({ timedOut: true });
  } finally {
    jest.useRealTimers();
  }
});

it('stops reading an endless answer', async () => {
  const { port } = await serve((_request, response) => {
    const flood = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', flood);
    flood();
  });
  expect(await failureOf(`http://127.0.0.1:${port}`, {})).toMatchObject({ timedOut: false });
});

it('reads four large answers of an upstream at once, and small ones and those of others meanwhile', async () => {
  const maxBytes = 32 * 1024 * 1024;
  const half = Buffer.alloc(12 * 1024 * 1024, ' '); // more than the buffers of a connection hold
  const begun: ServerResponse[] = [];
  const listener: RequestListener = ({ url }, response) => {
    if (url !== '/slow') return void response.end(url === '/large' ? half : '{}');
    response.write(half, () => begun.push(response));
  };
  const [{ port }, other] = [await serve(listener), await serve(listener)];
  const ended: string[] = [];
  const ask = async (path: string, at = port) => {
    await upstreamFetch(`http://127.0.0.1:${at}${path}`, { signal, maxBytes });
    ended.push(path);
  };
  const slow = Array.from({ length: 4 }, () => ask('/slow'));
  await eventually('four large answers', async () => begun.length === 4);
  const large = ask('/large');
  await ask('/small');
  await ask('/large', other.port);
  begun[0]!.end();
  await large;
  expect(ended).toEqual(['/small', '/large', '/slow', '/large']);
  for (const response of begun) response.end();
  await Promise.all(slow);
});

it('parses no answer that would keep the process busy', async () => {
  const { port } = await serve((_request, response) => response.end('['.repeat(1_000_000) + ']'.repeat(1_000_000)));
  const reply = await upstreamFetch(`http://127.0.0.1:${port}`, { signal });
  expect(reply).toMatchObject({ status: 200, json: undefined });
});

it('follows no redirect and accepts any status as an answer', async () => {
  const { seen, port } = await serve((_request, response) => response.writeHead(307, { location: '/' }).end('<html>'));
  const reply = await upstreamFetch(`http://127.0.0.1:${port}`, { method: 'POST', json: {}, signal });
  expect(reply).toMatchObject({ status: 307, json: undefined, text: '<html>', headers: { location: '/' } });
  expect(seen.requests).toBe(1);
});

it('throws the reason of the signal', async () => {
  const { seen, port } = await serve(() => undefined);
  const abort = new AbortController();
  const going = upstreamFetch(`http://127.0.0.1:${port}`, { signal: abort.signal });
  await Promise.race([going, eventually('the request', async () => seen.requests === 1)]);
  abort.abort('ended');
  await expect(going).rejects.toBe('ended');
});
