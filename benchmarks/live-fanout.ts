/**
 * How long does it take from a change of a task to the client that subscribes to it, with 1,000 open subscriptions? And how
 * much memory do 10,000 idle subscriptions need?
 *
 *     npm run bench -- live-fanout
 *
 * Two API processes (ROLE=api) on one database, and a fresh process for the idle subscriptions. There is no worker, so
 * nothing else happens. A change is a cancel, sent over HTTP. A delay starts before the request is written and ends
 * when the client has parsed the event, so it includes the whole request and the commit. In the baseline a bare `ws`
 * server sends a message of equal size to as many clients.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { atRate } from './support/at-rate.ts';
import { summaryOf } from './support/delays.ts';
import { Follower, PER_SOCKET } from './support/follower.ts';
import { residentMb } from './support/memory.ts';
import { post } from './support/post.ts';
import { report } from './support/report.ts';
import { Bench } from './support/service.ts';
import { until } from './support/until.ts';

const SUBSCRIPTIONS = 1_000;
const IDLE = 10_000;
const SOCKETS_PER_KEY = 20;
/** Changes a second. */
const RATE = 100;
const BURSTS = 20;
const SETTINGS = { ROLE: 'api', NODE_ENV: 'production' };

const bench = await Bench.open();
const rows: Record<string, object> = {};
/** Other work on the machine affects the result, so the report shows the load. */
const loadBefore = loadavg()[0];
try {
  const [here, there] = [await bench.service(SETTINGS), await bench.service(SETTINGS)];
  rows['baseline: bare ws, one message to 1,000'] = await bareFanout();

  const follower = await Follower.open(here, await anotherKey(here), SUBSCRIPTIONS);
  await oneChangeEach(here, follower, 200); // warm-up
  rows['each its own task, changed in the same process'] = await oneChangeEach(here, follower, SUBSCRIPTIONS);
  rows['each its own task, changed in the other process'] = await oneChangeEach(there, follower, SUBSCRIPTIONS);
  rows['all the same task, changed in the same process'] = await allOneTask(here, follower);
  rows['all the same task, changed in the other process'] = await allOneTask(there, follower);
  await follower.close();

  rows['10,000 idle subscriptions'] = await idle(await bench.service(SETTINGS), here);
} finally {
  await bench.close();
}
await report('live-fanout', rows, {
  unit: 'ms',
  subscriptions: SUBSCRIPTIONS,
  load_before: loadBefore,
  load_after: loadavg()[0],
});

async function oneChangeEach(changer: string, follower: Follower, count: number): Promise<object> {
  const ids = await createTasks(follower.url, follower.key, count);
  await follower.subscribe(ids);
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  follower.onFinal = (taskId) => delays.push(performance.now() - sentAt.get(taskId)!);
  await atRate(RATE, count, (nth) => {
    sentAt.set(ids[nth]!, performance.now());
    return cancel(changer, follower.key, ids[nth]!);
  });
  return summaryOf(delays, count);
}

async function allOneTask(changer: string, follower: Follower): Promise<object> {
  const delays: number[] = [];
  for (let burst = 1; burst <= BURSTS; burst++) {
    const [id] = (await createTasks(follower.url, follower.key, 1)) as [string];
    await follower.subscribe(Array.from({ length: SUBSCRIPTIONS }, () => id));
    await sleep(200);
    const sentAt = performance.now();
    follower.onFinal = () => delays.push(performance.now() - sentAt);
    await cancel(changer, follower.key, id);
    await until(() => delays.length >= burst * SUBSCRIPTIONS, 5_000);
  }
  return summaryOf(delays, BURSTS * SUBSCRIPTIONS);
}

/** The baseline: a WebSocket server that has the message ready and writes it once for each subscription. */
async function bareFanout(): Promise<object> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = await Promise.all(
    Array.from({ length: SUBSCRIPTIONS / PER_SOCKET }, async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}`);
      await once(socket, 'open');
      return socket;
    }),
  );
  const event = {
    taskId: 'task_01jd8e5t9kf3qs7m2v4xw6yzab',
    status: 'FAILED',
    progress: 0,
    completedAt: 1_795_000_000,
  };
  const text = JSON.stringify({ id: '1000', type: 'next', payload: { data: { taskUpdated: event } } });
  const delays: number[] = [];
  let sentAt = 0;
  for (const client of clients) {
    client.on('message', (data: Buffer) => {
      JSON.parse(data.toString());
      delays.push(performance.now() - sentAt);
    });
  }
  for (let burst = 0; burst < BURSTS; burst++) {
    sentAt = performance.now();
    for (const client of server.clients) for (let nth = 0; nth < PER_SOCKET; nth++) client.send(text);
    await sleep(100);
  }
  const summary = await summaryOf(delays, BURSTS * SUBSCRIPTIONS);
  for (const client of clients) client.terminate();
  server.close();
  await once(server, 'close');
  return summary;
}

/** @param creator the URL of another process, which creates the tasks, so that their cost is not counted */
async function idle(service: string, creator: string): Promise<object> {
  const before = residentMb(bench.pidOf(service));
  const followers: Follower[] = [];
  for (let open = 0; open < IDLE; open += PER_SOCKET * SOCKETS_PER_KEY) {
    const follower = await Follower.open(service, await anotherKey(creator), PER_SOCKET * SOCKETS_PER_KEY);
    await follower.subscribe(await createTasks(creator, follower.key, PER_SOCKET * SOCKETS_PER_KEY));
    followers.push(follower);
  }
  await sleep(30_000); // two pings, two polls of the feed
  const after = residentMb(bench.pidOf(service));
  const [{ key }] = followers as [Follower];
  const [probe] = (await createTasks(creator, key, 1)) as [string];
  const startedAt = performance.now();
  await cancel(service, key, probe);
  const cancelMs = Math.round(performance.now() - startedAt);
  await Promise.all(followers.map((follower) => follower.close()));
  return { resident_mb_before: before, resident_mb: after, cancel_ms: cancelMs };
}

async function anotherKey(service: string): Promise<string> {
  return (await post<{ key: string }>(`${service}/v1/api_keys`, bench.apiKey, { name: 'bench' })).key;
}

async function createTasks(service: string, key: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  const task = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk' };
  while (ids.length < count) {
    const batch = Array.from({ length: Math.min(50, count - ids.length) }, () =>
      post<{ task_id: string }>(`${service}/v1/generations`, key, task),
    );
    ids.push(...(await Promise.all(batch)).map(({ task_id }) => task_id));
  }
  return ids;
}

async function cancel(service: string, key: string, taskId: string): Promise<void> {
  await post(`${service}/v1/tasks/${taskId}/cancel`, key, {});
}
