import { once } from 'node:events';
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** Subscribes from many connections. Answers each message with the bytes that arrived since the message before. */
const { port, count, subscribe } = workerData as { port: number; count: number; subscribe: string };

let bytes = 0;
for (let nth = 0; nth < count; nth += 1) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(subscribe);
  socket.on('data', (data) => (bytes += data.length));
}
parentPort!.on('message', () => {
  parentPort!.postMessage(bytes, []);
  bytes = 0;
});
