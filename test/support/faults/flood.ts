/**
 * A client that sends requests to create tasks as fast as they are answered. It is a separate process, so that it does
 * not share the event loop of the measuring test. It prints a line when it was refused a hundred times. On SIGTERM it
 * prints how often it received each status, and ends. `node flood.ts <base URL> <connections>`, with the key in
 * FLOOD_KEY.
 */
import { Agent, request } from 'node:http';

const [, , baseUrl, connections] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const body = JSON.stringify({ model: 'gpt-image-2', prompt: '#fail:content_policy_violation' });
const statuses: Record<number, number> = {};

const headers = {
  authorization: `Bearer ${process.env.FLOOD_KEY}`,
  'content-type': 'application/json',
  'content-length': Buffer.byteLength(body),
};

function send(): void {
  const sent = request(`${baseUrl}/v1/generations`, { method: 'POST', agent, headers }, (reply) => {
    const status = reply.statusCode ?? 0;
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status === 429 && statuses[status] === 101) process.stdout.write('refused\n');
    reply.resume().on('end', send);
  });
  sent.on('error', () => setTimeout(send, 100));
  sent.end(body);
}
for (let nth = 0; nth < Number(connections); nth += 1) send();

process.on('SIGTERM', () => {
  process.stdout.write(JSON.stringify(statuses), () => process.exit(0));
});
