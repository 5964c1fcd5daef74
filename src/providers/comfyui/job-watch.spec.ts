import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { eventually } from '../../../test/support/wait.ts';
import { JobWatch } from './job-watch.ts';

it('parses no message with too many levels or values', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const message = (value: number, more: string) =>
    `{"type":"progress","data":{"prompt_id":"run","node":"1","value":${value},"max":100,"more":${more}}}`;
  server.on('connection', (socket) => {
    socket.send(message(80, '['.repeat(100_000) + ']'.repeat(100_000)));
    socket.send(message(60, `[${'{},'.repeat(300_000)}1]`));
    socket.send(message(40, '0'));
  });
  const percents: number[] = [];
  const watch = new JobWatch(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`, {});
  try {
    watch.follow('run', ['1']);
    watch.report('run', (percent) => percents.push(percent));
    await eventually('the last message', async () => percents.length > 1);
    expect(percents).toEqual([0, 40]);
  } finally {
    watch.close();
    server.close();
  }
});

it('reads no message above 4 MiB, and connects again', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    if (connections === 1) socket.send(Buffer.alloc(4 * 1024 * 1024 + 1));
    else socket.send('{"type":"progress","data":{"prompt_id":"run","node":"1","value":40,"max":100}}');
  });
  const percents: number[] = [];
  const watch = new JobWatch(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`, {});
  try {
    watch.follow('run', ['1']);
    watch.report('run', (percent) => percents.push(percent));
    await eventually('the message of the second connection', async () => percents.includes(40));
    expect(connections).toBe(2);
  } finally {
    watch.close();
    server.close();
  }
});
