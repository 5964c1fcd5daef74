import { jest } from '@jest/globals';
import type { HttpAdapterHost } from '@nestjs/core';
import type { GraphQLSchemaHost } from '@nestjs/graphql';
import { buildSchema } from 'graphql';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import type { Config } from '../config/config.ts';
import type { EdgeAdapter } from '../http/http-app.ts';
import type { UpgradeHandler } from '../http/upgrades.ts';
import { Metrics } from '../observe/measuring/metrics.ts';
import { GraphqlSockets } from './graphql-sockets.ts';

const PING_MS = 12_000;
/** The default of graphql-ws. */
const INIT_MS = 3_000;

describe('an open socket', () => {
  let server: Server;
  let sockets: GraphqlSockets;

  beforeEach(async () => {
    server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const claim = (_path: string, open: UpgradeHandler) => server.on('upgrade', open);
    sockets = new GraphqlSockets(
      { graphqlIntrospection: true, shutdownGraceS: 0 } as Config,
      { httpAdapter: { edge: { upgrades: { claim } } } } as unknown as HttpAdapterHost<EdgeAdapter>,
      { schema: buildSchema('type Query { a: Int }') } as GraphQLSchemaHost,
      new Metrics(),
    );
    sockets.guardedBy({
      assertMayOpen: () => {},
      admit: async () => ({ owner: 'key', release: () => {} }),
      admitDocument: async () => {},
    });
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask', 'performance'] });
    sockets.onApplicationBootstrap();
  });
  afterEach(async () => {
    jest.useRealTimers();
    await sockets.beforeApplicationShutdown();
    server.close();
    server.closeAllConnections();
  });

  async function open(autoPong: boolean) {
    const { port } = server.address() as AddressInfo;
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { autoPong });
    await once(socket, 'open');
    return socket;
  }
  const initialised = async (autoPong: boolean) => {
    const socket = await open(autoPong);
    socket.send('{"type":"connection_init"}');
    await once(socket, 'message');
    return socket;
  };
  /** The server has read all that the client sent before. */
  const roundTrip = async (socket: WebSocket) => {
    socket.send('{"type":"ping"}');
    await once(socket, 'message');
  };

  it('is freed at the second ping after its client stopped responding, and no other', async () => {
    const [silent, alive] = [await initialised(false), await initialised(true)];
    const closed = once(silent, 'close');
    const pinged = [silent, alive].map((socket) => once(socket, 'ping'));
    jest.advanceTimersByTime(PING_MS);
    await Promise.all(pinged);
    await roundTrip(alive);
    const again = once(alive, 'ping');
    jest.advanceTimersByTime(PING_MS);
    expect((await closed)[0]).toBe(1006);
    await again;
    expect(alive.readyState).toBe(WebSocket.OPEN);
    alive.terminate();
  });

  it('is closed with 4408 when it sends no connection_init', async () => {
    const socket = await open(true);
    const closed = once(socket, 'close');
    jest.advanceTimersByTime(INIT_MS);
    expect((await closed)[0]).toBe(4408);
  });
});
