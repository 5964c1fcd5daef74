import { jest } from '@jest/globals';
import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { eventually } from '../../../test/support/wait.ts';
import { stopClock } from '../../../test/support/clock.ts';
import { hangUpWhenUnread } from './unread.ts';

async function* pings() {
  for (;;) yield Buffer.alloc(65_536);
}

describe('a stream', () => {
  let server: Server;
  let client: ClientRequest;
  let response: ServerResponse;
  let unreadMs: number | undefined;
  beforeEach(async () => {
    server = createServer((_request, answer) => {
      response = answer;
      hangUpWhenUnread(response, unreadMs);
      const stream = Readable.from(pings(), { objectMode: false, highWaterMark: 1 });
      response.once('close', () => stream.destroy());
      stream.pipe(response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    jest.useRealTimers();
    client.destroy(); // what reads nothing does not notice that the server has hung up
    server.closeAllConnections();
    server.close();
  });

  async function open(): Promise<IncomingMessage> {
    client = request({ port: (server.address() as AddressInfo).port });
    client.on('error', () => undefined).end();
    const [answer] = await once(client, 'response');
    return answer.on('error', () => undefined);
  }

  it('is hung up on when its client reads nothing', async () => {
    unreadMs = 100;
    await open(); // never reads the body
    await once(response, 'close');
    expect(response.writableFinished).toBe(false);
  });

  it('stays open while its client reads, however long', async () => {
    unreadMs = undefined;
    stopClock();
    const answer = await open();
    let bytes = 0;
    answer.on('data', (data: Buffer) => (bytes += data.length));
    for (let minute = 0; minute < 10; minute += 1) {
      const read = bytes;
      await eventually('more to be read', async () => bytes > read);
      jest.advanceTimersByTime(60_000);
    }
    expect(response.closed).toBe(false);
  });
});
