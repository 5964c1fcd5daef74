import { once } from 'node:events';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { hangUpWhenUnread } from './unread.ts';

async function* pings() {
  for (;;) {
    yield Buffer.alloc(65_536);
    await sleep(20);
  }
}

describe('a stream', () => {
  let server: Server;
  const responses: ServerResponse[] = [];
  beforeEach(async () => {
    server = createServer((_request, response) => {
      responses.push(response);
      hangUpWhenUnread(response, 1_000);
      const stream = Readable.from(pings(), { objectMode: false, highWaterMark: 1 });
      response.once('close', () => stream.destroy());
      stream.pipe(response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => server.closeAllConnections());
  afterEach(() => server.close());

  async function open() {
    const client = request({ port: (server.address() as AddressInfo).port });
    client.on('error', () => undefined).end();
    const [answer] = await once(client, 'response');
    answer.on('error', () => undefined);
    return { answer, response: responses.at(-1)! };
  }

  it('is hung up on when its client reads nothing', async () => {
    const { response } = await open(); // never reads the body
    await once(response, 'close');
    expect(response.writableFinished).toBe(false);
  }, 20_000);

  it('stays open while its client reads', async () => {
    const { answer, response } = await open();
    answer.resume();
    await sleep(2_500);
    expect(response.closed).toBe(false);
  }, 20_000);
});
