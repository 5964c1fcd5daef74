/**
 * How many tasks a second reach their final state if the provider answers at once, and how many their webhook? How long
 * does a single task take? One baseline is the same work written by hand with BullMQ and an equally durable Redis
 * (baseline/pipeline.ts). The other is pgbench with the service's own statements for one task at a time.
 *
 *     npm run bench -- pipeline [tasks a round, 4000] [rounds, 5]
 *
 * One process with ROLE=all. Rates use the times in the rows: tasks / (last completed_at - first created_at). Webhooks
 * are timed when they arrive here. Needs Debian's redis-server; without pgbench its row is missing. The ratio is
 * service / baseline.
 *
 * `work` is the processor time of one task, of the process, PostgreSQL and (where used) Redis together. Both sides
 * inspect the image and store it durably with the same code. This code is also measured alone, because its cost bounds
 * how far apart the two sides can be.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Arrivals, type Burst, burst } from './support/burst.ts';
import { tasksPerSecond } from './support/pgbench.ts';
import { inspectAndStore } from './support/inspect-and-store.ts';
import { post } from './support/post.ts';
import { startRedis } from './support/redis.ts';
import { median, report, round2 } from './support/report.ts';
import { Bench } from './support/service.ts';

const TASKS = Number(process.argv[2] ?? 4000);
const ROUNDS = Number(process.argv[3] ?? 5);
const SINGLES = 100;
/** Pause between two single tasks, so that everything is idle when the second starts. */
const IDLE_MS = 15;

/** Called when the next webhook arrives. */
let arrived: (() => void) | undefined;
const arrivals: Arrivals = { count: 0, lastAt: 0 };
const receiver = createServer((request, reply) => {
  request.resume().on('end', () => {
    arrivals.count += 1;
    arrivals.lastAt = Date.now();
    reply.end();
    arrived?.();
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

const bench = await Bench.open();
const redis = await startRedis();
const files = await mkdtemp(join(tmpdir(), 'darkroom-bench-files-'));
const database = new pg.Client({ connectionString: bench.databaseUrl });
await database.connect();
const rows: Record<string, object> = {};
try {
  const instant = new URL('support/instant-provider.ts', import.meta.url).href;
  const service = await bench.service({
    NODE_OPTIONS: `--import ${instant}`,
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    OUTBOUND_ALLOW_HTTP: 'true',
  });
  const baseline = await bench.baseline('pipeline', redis.url, files, '');
  const baselineTelling = await bench.baseline('pipeline', redis.url, files, receiverUrl);

  const json = { 'content-type': 'application/json' };
  const as = (key: string) => ({ ...json, authorization: `Bearer ${key}` });
  const generation = { model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } };
  const body = JSON.stringify(generation);
  const { key } = await post<{ key: string }>(`${service}/v1/api_keys`, bench.apiKey, { name: 'telling' });
  await post(`${service}/v1/webhook_endpoints`, key, { url: receiverUrl });

  const pids = (url: string) => [bench.pidOf(url), bench.databasePid];
  const ours = { url: `${service}/v1/generations`, table: 'tasks', pids: pids(service) };
  const theirs = {
    url: `${baseline}/tasks`,
    table: 'bullmq_tasks',
    headers: json,
    pids: [...pids(baseline), redis.pid],
  };
  const theirsTelling = { ...theirs, url: `${baselineTelling}/tasks`, pids: [...pids(baselineTelling), redis.pid] };
  const finals = { ours: [] as Burst[], theirs: [] as Burst[] };
  const hooks = { ours: [] as Burst[], theirs: [] as Burst[] };
  const alike: number[] = [];
  const plain = { database, amount: TASKS };
  const withWebhooks = { ...plain, arrivals };
  await burst({ ...ours, headers: as(bench.apiKey) }, body, plain); // warm-up
  await burst(theirs, body, plain);
  for (let round = 1; round <= ROUNDS; round += 1) {
    finals.theirs.push(await burst(theirs, body, plain));
    finals.ours.push(await burst({ ...ours, headers: as(bench.apiKey) }, body, plain));
    hooks.theirs.push(await burst(theirsTelling, body, withWebhooks));
    hooks.ours.push(await burst({ ...ours, headers: as(key) }, body, withWebhooks));
    alike.push(await inspectAndStore(files));
    console.log(
      `round ${round} of ${ROUNDS}`,
      [finals.theirs, finals.ours, hooks.theirs, hooks.ours].map((side) => Math.round(side.at(-1)!.rate)),
    );
  }
  const all = (bursts: { ours: Burst[]; theirs: Burst[] }, of: keyof Burst) =>
    compared({ ours: bursts.ours.map((one) => one[of]), theirs: bursts.theirs.map((one) => one[of]) });
  rows['201 to final, tasks/s'] = all(finals, 'rate');
  rows['201 to webhook, tasks/s'] = all(hooks, 'rate');
  rows['work to final, ms a task'] = all(finals, 'work');
  rows['work to webhook, ms a task'] = all(hooks, 'work');
  const same = round2(median(alike));
  rows['of that, what both do alike'] = { service: same, baseline: same };

  const waits = { ours: [] as number[], theirs: [] as number[] };
  const prefer = { prefer: 'wait=10' };
  for (let nth = 0; nth < SINGLES; nth += 1) {
    waits.ours.push(await timed(() => post(ours.url, bench.apiKey, generation, prefer)));
    waits.theirs.push(await timed(() => post(theirs.url, null, generation, prefer)));
  }
  rows['one task when idle, POST to final, ms'] = compared(waits);
  const deliveries = { ours: [] as number[], theirs: [] as number[] };
  const delivered = (url: string, apiKey: string | null) => async () => {
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    await Promise.all([arrival, post(url, apiKey, generation)]);
  };
  for (let nth = 0; nth < SINGLES; nth += 1) {
    deliveries.ours.push(await timed(delivered(ours.url, key)));
    deliveries.theirs.push(await timed(delivered(theirsTelling.url, null)));
  }
  rows['one task when idle, POST to webhook, ms'] = compared(deliveries);
} finally {
  await database.end();
  await bench.close();
  await redis.stop();
  receiver.close();
  await rm(files, { recursive: true, force: true });
}
const alone = await tasksPerSecond(16, 10);
if (alone !== null) rows['pgbench, 16 clients, a task at a time, tasks/s'] = { baseline: Math.round(alone) };
await report('pipeline', rows, { tasks: TASKS, rounds: ROUNDS, redis: 'appendfsync always' });

function compared({ ours, theirs }: { ours: number[]; theirs: number[] }): object {
  const ratios = ours.map((rate, at) => rate / (theirs[at] as number));
  return { ratio: round2(median(ratios)), service: round2(median(ours)), baseline: round2(median(theirs)) };
}

/** How many milliseconds the work takes. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  await sleep(IDLE_MS);
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
