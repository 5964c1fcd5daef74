import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { liveEvents } from './live-events.ts';

type Reply = (response: ServerResponse) => void;

let replies: Reply[];
let received: IncomingHttpHeaders[];
let url: string;
const server = createServer((request, response) => {
  received.push(request.headers);
  replies.shift()!(response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => server.close());
beforeEach(() => ([replies, received] = [[], []]));

/** `retry:` shortens the client's pause of 2 s. */
const stream =
  (text: string): Reply =>
  (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`retry: 10\n: open\n\n${text}`);
const failure =
  (status: number, code: string): Reply =>
  (response) =>
    response.writeHead(status).end(JSON.stringify({ error: { code, message: 'No.' } }));

async function readAll(signal = new AbortController().signal) {
  const events: unknown[] = [];
  let connections = 0;
  const end = (async () => {
    for await (const event of liveEvents({ url, key: 'dr_test' }, signal, () => connections++)) events.push(event);
  })();
  const error = await end.then(
    () => null,
    (error: Error) => error.message,
  );
  return { events, connections, error };
}

describe('live events', () => {
  it('reconnects with Last-Event-ID and the key, and counts only connections that opened', async () => {
    replies = [
      stream('id: 7\ndata: {"n":1}\n\ndata: {"n":2}\n\n'),
      failure(503, 'service_unavailable'),
      stream('id: 9\ndata: {"n":3}\n\n'),
      failure(401, 'api_key_revoked'),
    ];
    expect(await readAll()).toEqual({
      events: [{ n: 1 }, { n: 2 }, { n: 3 }],
      connections: 2,
      error: 'api_key_revoked: No.',
    });
    expect(received.map((headers) => headers['last-event-id'])).toEqual([undefined, '7', '7', '9']);
    expect(new Set(received.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer dr_test']));
  });

  it.each([400, 401, 403, 404])('ends with the error of the service at status %i', async (status) => {
    replies = [failure(status, 'some_code')];
    expect((await readAll()).error).toBe('some_code: No.');
    expect(received).toHaveLength(1);
  });

  it('ends without an error when it is aborted', async () => {
    const abort = new AbortController();
    replies = [(response) => response.writeHead(200).write(': open\n\n', () => abort.abort())];
    expect(await readAll(abort.signal)).toMatchObject({ events: [], error: null });
  });
});
