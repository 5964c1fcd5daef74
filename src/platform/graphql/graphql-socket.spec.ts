import { EventEmitter } from 'node:events';
import type { Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { GraphqlSocket } from './graphql-socket.ts';
import type { SocketState } from './socket-operations.ts';

it('lets a subscription go on only when the client has taken the bytes', async () => {
  const written: (() => void)[] = [];
  const webSocket = Object.assign(new EventEmitter(), {
    readyState: 1,
    OPEN: 1,
    send: (_text: string, done: () => void) => written.push(done),
  });
  let send: (text: string) => Promise<void> | void;
  const server = { opened: (socket: { send: typeof send }) => void (send = socket.send) };
  const socket = new GraphqlSocket(
    webSocket as unknown as WebSocket,
    server as unknown as Server<SocketState>,
    {} as SocketState,
    () => undefined,
  );
  expect(socket.subscriptions).toBe(0);
  let hasSent = false;
  const sending = Promise.resolve(send!('a state')).then(() => (hasSent = true));
  await new Promise(setImmediate);
  expect(hasSent).toBe(false);
  written[0]!();
  await sending;
});
