/**
 * How many processes does one channel of Redis serve?
 *
 *     npm run bench -- bus [seconds a row, 5]
 *
 * The Redis is a real one. Connections take the place of the processes of a deployment and publish as much: the
 * changes, each in a message of its own, and one message a second for each process. `redis_cores` is how many processor
 * cores Redis uses; one is the most. A probe message is sent each 100 ms, and `late_ms` is the longest time until one
 * arrived. `process_us` is the processor time that one real bus uses for a message that it gets, and `loop_share` the
 * share of its event loop. Needs Debian's redis-server.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startRedis } from './support/redis.ts';
import { processorClock } from './support/processor-time.ts';
import { report, round2 } from './support/report.ts';

const { Bus } = (await import(
  new URL('../dist/platform/events/bus.js', import.meta.url).href
)) as typeof import('../src/platform/events/bus.ts');
const { RedisTransport } = (await import(
  new URL('../dist/platform/events/redis-transport.js', import.meta.url).href
)) as typeof import('../src/platform/events/redis-transport.ts');

const SECONDS = Number(process.argv[2] ?? 5);
const CHANNEL = 'darkroom_events_00000000';
/**
 * The pause between two writes. It is short because many processes do not write at the same time, and a change that
 * arrives alone costs Redis a write to each of them.
 */
const TICK_MS = 1;
/** A change names a task and its key, with ids of 31 and 30 characters. */
const CHANGE = `["abcdef01",[["task","${'t'.repeat(31)} ${'k'.repeat(30)}"]],0]`;
const PROBE_EVERY_MS = 100;
/** The bytes around the text of a change in the message that Redis sends to a subscriber. */
const FRAME_BYTES = `*3\r\n$7\r\nmessage\r\n$24\r\n${CHANNEL}\r\n$${CHANGE.length}\r\n\r\n`.length;

const redis = await startRedis();
const port = Number(new URL(redis.url).port);

async function connections(count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').setNoDelay());
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

const command = (...parts: string[]): string =>
  `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;
const PUBLISH = command('PUBLISH', CHANNEL, CHANGE);

/** Publishes from all connections in turn. @returns a function that stops, and returns how many messages were sent */
function publishing(publishers: Socket[], perSecond: number): () => number {
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) * perSecond) / 1000;
    for (; sent < due; sent += 1) publishers[sent % publishers.length]!.write(PUBLISH);
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    return sent;
  };
}

async function ofRedis(processes: number, changes: number): Promise<object> {
  const workerData = { port, count: processes, subscribe: command('SUBSCRIBE', CHANNEL) };
  const subscribers = new Worker(new URL('support/bus-subscribers.thread.ts', import.meta.url), { workerData });
  const bytesGot = async (): Promise<number> => {
    subscribers.postMessage('', []);
    return ((await once(subscribers, 'message')) as [number])[0];
  };
  await bytesGot(); // all have subscribed
  const publishers = await connections(processes);
  for (const socket of publishers) socket.resume();
  const probe = new Bus(new RedisTransport(redis.url, CHANNEL));
  const other = new Bus(new RedisTransport(redis.url, CHANNEL));
  await Promise.all([probe.start(), other.start()]);
  let lateMs = 0;
  other.subscribe('probe', (bodies) => {
    for (const body of bodies) lateMs = Math.max(lateMs, performance.now() - Number(body));
  });
  await sleep(500);
  await bytesGot();
  const clock = processorClock(redis.pid);
  const startedAt = performance.now();
  const stop = publishing(publishers, changes + processes);
  const probes = setInterval(() => probe.publish('probe', String(performance.now())), PROBE_EVERY_MS);
  await sleep(SECONDS * 1000);
  const sent = stop();
  clearInterval(probes);
  const ms = clock();
  const tookMs = performance.now() - startedAt;
  const got = (await bytesGot()) / (FRAME_BYTES + CHANGE.length);
  await Promise.all([probe.stop(), other.stop()]);
  await subscribers.terminate();
  for (const socket of publishers) socket.destroy();
  return {
    delivered_per_s: Math.round((got / tookMs) * 1000),
    delivered_share: round2(got / (sent * processes)),
    redis_us: round2((ms * 1000) / got),
    redis_cores: round2(ms / tookMs),
    late_ms: Math.round(lateMs),
  };
}

/** What the changes of all other processes cost one process. */
async function ofProcess(changes: number): Promise<object> {
  const publishers = await connections(50);
  for (const socket of publishers) socket.resume();
  const bus = new Bus(new RedisTransport(redis.url, CHANNEL));
  await bus.start();
  let got = 0;
  bus.subscribe('task', (bodies) => (got += bodies.length));
  const measure = async (perSecond: number): Promise<number> => {
    const stop = publishing(publishers, perSecond);
    const before = process.cpuUsage();
    await sleep(SECONDS * 1000);
    const { user, system } = process.cpuUsage(before);
    stop();
    return user + system;
  };
  await measure(changes);
  got = 0;
  const usedUs = await measure(changes);
  const received = got;
  await bus.stop();
  // The same without a subscriber: what publishing itself costs this process.
  const publishingUs = await measure(changes);
  for (const socket of publishers) socket.destroy();
  const us = (usedUs - publishingUs) / received;
  return { process_us: round2(us), loop_share: round2((us * changes) / 1e6) };
}

const rows: Record<string, object> = {};
try {
  for (const [processes, changes] of [
    [50, 1_400],
    [200, 1_400],
    [200, 4_600],
    [200, 14_000],
  ] as const)
    rows[`${processes} processes, ${changes} changes a second`] = await ofRedis(processes, changes);
  for (const changes of [1_400, 4_600]) rows[`one process, ${changes} changes a second`] = await ofProcess(changes);
} finally {
  await redis.stop();
}
await report('bus', rows, { seconds: SECONDS });
