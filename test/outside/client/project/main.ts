// A program of somebody who has installed /client.tgz. The test compiles it in strict mode and runs it.
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Darkroom, type DarkroomEvent, verifyWebhook } from '@darkroom/client';

const darkroom = new Darkroom({ maxRetries: 3 });

const received: DarkroomEvent[] = [];
let secret = '';
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  received.push(await verifyWebhook(Buffer.concat(chunks), request.headers, secret));
  response.writeHead(204).end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const endpoint = await darkroom.webhookEndpoints.create({ url });
secret = endpoint.secret ?? '';

const run = await darkroom.generate({ model: 'gpt-image-2', prompt: 'A lighthouse', resolution: '1K' });
for await (const state of run) {
  if (state.status === 'succeeded') console.log(`${state.result.outputs.length} picture`);
}
const task = await run.wait({ onProgress: (percent: number) => console.log(`${percent} %`) });
console.log(await task.outputs[0]!.save('lighthouse.png'));

while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
for (const event of received) {
  if (event.type === 'task.completed') console.log(`completed ${event.data.result.outputs[0]?.content_type}`);
}
server.close();
await darkroom.webhookEndpoints.delete(endpoint.id);
