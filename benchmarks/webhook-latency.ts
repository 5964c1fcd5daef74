/**
 * How long after the final state of a task does its webhook arrive, at 50 ends a second? A second row has a dead
 * endpoint with 1,000 waiting events as well. The baseline sends the same requests directly to the receiver.
 *
 *     npm run bench -- webhook-latency [seconds, 20]
 *
 * One process with ROLE=all. The time of the final state is the `timestamp` of the body, by the clock of the database on the
 * same machine.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atRate } from './support/at-rate.ts';
import { summaryOf } from './support/delays.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';

const PER_SECOND = 50;
const SECONDS = Number(process.argv[2] ?? 20);
const WAITING = 1000;
const AT_ONCE = 20;
const aFailure = { model: 'gpt-image-2', prompt: '#fail:internal_error' };

const delays: number[] = [];
const alive = await listen((body) => {
  delays.push(Date.now() - Date.parse((JSON.parse(body) as { timestamp: string }).timestamp));
});
const dead = await listen(null);

const bench = await Bench.open();
const rows: Record<string, object> = {};
try {
  const service = await bench.service({
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    OUTBOUND_ALLOW_HTTP: 'true',
    SHUTDOWN_GRACE_S: '1', // a longer grace period would only wait for the dead endpoint
  });
  rows['baseline: straight to the receiver'] = await measure(() =>
    post(urlOf(alive), null, { timestamp: new Date().toISOString() }),
  );
  const one = await tenant(service, alive);
  await measure(one, 3); // warm-up
  rows['one endpoint'] = await measure(one);
  const other = await tenant(service, dead);
  for (let left = WAITING; left > 0; left -= AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, other));
  rows['beside a dead endpoint with 1,000 events waiting'] = await measure(one);
} finally {
  await bench.close();
  for (const receiver of [alive, dead]) {
    receiver.close();
    receiver.closeAllConnections();
  }
}
await report('webhook-latency', rows, { unit: 'ms', per_second: PER_SECOND, seconds: SECONDS });

/** Calls `create` at the rate and waits for all webhooks. */
async function measure(create: () => Promise<unknown>, seconds = SECONDS): Promise<object> {
  delays.length = 0;
  const count = PER_SECOND * seconds;
  await atRate(PER_SECOND, count, create);
  return summaryOf(delays, count, 60_000);
}

/** Creates an API key with this receiver as its endpoint. @returns a function that creates a task which ends at once */
async function tenant(service: string, receiver: Server): Promise<() => Promise<unknown>> {
  const { key } = await post<{ key: string }>(`${service}/v1/api_keys`, bench.apiKey, { name: 'bench' });
  await post(`${service}/v1/webhook_endpoints`, key, { url: urlOf(receiver) });
  return () => post(`${service}/v1/generations`, key, aFailure);
}

/** @param take gets the body of each request; null: the server accepts every request and never responds */
async function listen(take: ((body: string) => void) | null): Promise<Server> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (!take) return;
    take(body);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
