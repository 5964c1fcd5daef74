import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { eventually } from '../../../test/support/wait.ts';
import { InlineImage } from './inline-image.ts';
import { paidCall } from './paid-call.ts';
import { streamForm } from './stream-body.ts';
import { type UpstreamCall, upstreamFetch } from './upstream-fetch.ts';
import { WatchedCall } from './watched-call.ts';

/** What the upstream saw: open and closed connections, and complete requests. */
const seen = { connections: 0, closed: 0, requests: 0 };
/** The upstream reads no body before that. */
let reading = Promise.resolve();
const server = createServer(async (request, response) => {
  await reading;
  request.resume().on('end', () => {
    seen.requests += 1;
    response.end('{}');
  });
}).on('connection', (socket) => {
  seen.connections += 1;
  socket.on('close', () => (seen.closed += 1));
});
let url: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
beforeEach(() => Object.assign(seen, { connections: 0, closed: 0, requests: 0 }));
afterAll(() => server.close().closeAllConnections());

const form = () => {
  const fields = new FormData();
  fields.append('prompt', 'a cat');
  return fields;
};
const fetchBy = (call: UpstreamCall) => () => upstreamFetch(url, { method: 'POST', ...call });
const watched = (body: string | FormData) => () =>
  new WatchedCall({ timeoutMs: 60_000, maxAnswerBytes: 1_000 }).fetch(url, { method: 'POST', body });
const WAYS: [name: string, send: () => Promise<unknown>][] = [
  ['JSON', fetchBy({ json: { prompt: 'a cat' } })],
  ['a form', fetchBy({ form: form() })],
  ['JSON of an SDK', watched('{"prompt":"a cat"}')],
  ['a form of an SDK', watched(form())],
];

it.each(WAYS)('is complete only after a check on the open connection, as %s', async (_name, send) => {
  const held = Promise.withResolvers<void>();
  let checks = 0;
  const assertHeld = async () => {
    if ((checks += 1) > 1) await held.promise;
  };
  const call = paidCall({ assertHeld }, send);
  await eventually('the second check', async () => checks === 2 && seen.connections === 1);
  expect(seen.requests).toBe(0);
  held.resolve();
  expect(await call).toMatchObject({ status: 200 });
  expect([checks, seen.requests]).toEqual([2, 1]);
});

it.each(WAYS)('never completes once another worker has the task, as %s', async (_name, send) => {
  let checks = 0;
  const assertHeld = async () => {
    if ((checks += 1) > 1) throw new Error('lost');
  };
  await expect(paidCall({ assertHeld }, send)).rejects.toThrow();
  await eventually('the end of the connection', async () => seen.closed === 1);
  expect([checks, seen.requests]).toEqual([2, 0]);
});

it('does not begin if another worker has the task already', async () => {
  const lost = async () => Promise.reject(new Error('lost'));
  await expect(paidCall({ assertHeld: lost }, fetchBy({ json: {} }))).rejects.toThrow('lost');
  expect(seen.connections).toBe(0);
});

it('leaves the calls that follow unchecked', async () => {
  let checks = 0;
  const assertHeld = async () => void (checks += 1);
  await paidCall({ assertHeld }, fetchBy({ json: {} }));
  await fetchBy({ json: {} })();
  expect([checks, seen.requests]).toEqual([2, 2]);
});

it('is checked when all but the last piece has left the process', async () => {
  const prompt = 'a cat '.repeat(4_000_000); // more than the buffers of a connection hold
  const file = { path: import.meta.filename, size: 0, contentType: 'image/png', width: 1, height: 1 } as const;
  const upstream = Promise.withResolvers<void>();
  reading = upstream.promise;
  let socket: Socket | undefined;
  subscribe('undici:client:connected', (connected) => ({ socket } = connected as { socket: Socket }));
  const unsent: (number | undefined)[] = [];
  const call = paidCall(
    { assertHeld: async () => void unsent.push(socket?.writableLength) },
    fetchBy({ json: { prompt, end: new InlineImage(file) } }),
  );
  await eventually('the upload to be stuck', async () => (socket?.writableLength ?? 0) > 1_000_000);
  upstream.resolve();
  expect(await call).toMatchObject({ status: 200 });
  expect(unsent).toEqual([undefined, 0]);
});

it('sends no small piece by itself before the last, because such a piece may stay in the process', async () => {
  const fields = form();
  fields.append('image', new Blob(['a'.repeat(200_000)]));
  fields.append('image', new Blob(['b']));
  const sizes: number[] = [];
  await paidCall({ assertHeld: async () => undefined }, async () => {
    for await (const piece of streamForm(fields).stream) sizes.push(piece.length);
  });
  expect(sizes).toHaveLength(2);
  expect(sizes[0]).toBeGreaterThan(200_000);
});
