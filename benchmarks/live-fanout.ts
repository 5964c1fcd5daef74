/**
 * How long from a change of a task to the client that subscribes to it, with 1,000 subscriptions open; and what do 10,000
 * idle ones cost in memory?
 *
 *     npm run build && node benchmarks/live-fanout.ts
 *
 * Two API processes (dist/main.js, ROLE=api) on one embedded database in a folder of its own, and a fresh one for the idle
 * ones; no worker, so only what is measured happens. A change is a cancel, sent over HTTP: every delay is from before the
 * request is written to the moment the event is parsed by the client, so it holds the whole request, the commit and the way
 * back. As the baseline a bare `ws` server tells an equal message to as many.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';

const SUBSCRIPTIONS = 1_000;
const IDLE = 10_000;
const PER_SOCKET = 50;
const SOCKETS_PER_KEY = 20;
/** Changes a second. */
const RATE = 100;
const BURSTS = 20;

const built = (path: string) => import(new URL(`../dist/${path}`, import.meta.url).href);
const [{ startEmbeddedPostgres }, { newApiKey }] = await Promise.all([
  built('platform/database/embedded-postgres.js'),
  built('auth/api-key-format.js'),
]);
const folder = await mkdtemp(join(tmpdir(), 'darkroom-bench-'));
await chmod(folder, 0o711); // as root the database runs as another user
const database = await startEmbeddedPostgres(join(folder, 'data'));
const admin: string = newApiKey();
const services: Service[] = [];
const ms: Record<string, object> = {};
let memory: object;
/** Whoever else uses the machine is measured along. */
const loadBefore = loadavg()[0];

interface Service {
  child: ChildProcess;
  url: string;
}

async function start(): Promise<Service> {
  const port = await freePort();
  const child = spawn(process.execPath, [new URL('../dist/main.js', import.meta.url).pathname], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      ROLE: 'api',
      DATABASE_URL: database.url,
      DATA_DIR: join(folder, 'data'),
      SECRET_KEY: '0123456789abcdef'.repeat(4),
      BOOTSTRAP_API_KEY: admin,
      LOG_LEVEL: 'warn',
      RATE_CREATE_PER_MIN: '0',
      RATE_READ_PER_MIN: '0',
      MAX_RUNNING_PER_KEY: '0',
      MAX_QUEUED_PER_KEY: '0',
      NODE_ENV: 'production',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const service = { child, url: `http://127.0.0.1:${port}` };
  services.push(service);
  for (let tries = 0; ; tries++) {
    const ready = await fetch(`${service.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return service;
    if (tries > 300 || child.exitCode !== null) throw new Error('The service did not start.');
    await sleep(100);
  }
}

async function call<Body>(service: Service, path: string, key: string, body: object): Promise<Body> {
  const reply = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as Body;
}

async function anotherKey(): Promise<string> {
  return (await call<{ key: string }>(services[0]!, '/v1/api_keys', admin, { name: 'bench' })).key;
}

async function createTasks(key: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const batch = Array.from({ length: Math.min(50, count - ids.length) }, () =>
      call<{ task_id: string }>(services[0]!, '/v1/generations', key, {
        model: 'gpt-image-2',
        prompt: 'A lighthouse at dusk',
      }),
    );
    ids.push(...(await Promise.all(batch)).map(({ task_id }) => task_id));
  }
  return ids;
}

/** Subscriptions of one key over as few sockets as may hold them, by the plain protocol: a client library would measure itself. */
class Follower {
  onFinal: (taskId: string) => void = () => undefined;
  readonly key: string;
  private readonly sockets: WebSocket[];
  private presentStates = 0;
  private nextId = 0;

  private constructor(key: string, sockets: WebSocket[]) {
    this.key = key;
    this.sockets = sockets;
    for (const socket of sockets) socket.on('message', (data: Buffer) => this.take(data));
  }

  static async open(service: Service, subscriptions: number, key: string): Promise<Follower> {
    const count = Math.ceil(subscriptions / PER_SOCKET);
    const opening = Array.from({ length: count }, async () => {
      const socket = new WebSocket(`${service.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
      const [ack] = (await once(socket, 'message')) as [Buffer];
      if (!ack.includes('connection_ack')) throw new Error(`No ack: ${ack.toString()}`);
      return socket;
    });
    return new Follower(key, await Promise.all(opening));
  }

  /** Resolves when each has its present state. */
  async subscribe(taskIds: string[]): Promise<void> {
    this.presentStates = 0;
    for (const [at, taskId] of taskIds.entries()) {
      const query = `subscription { taskUpdated(taskId: "${taskId}") { taskId status progress completedAt } }`;
      this.sockets[at % this.sockets.length]!.send(
        JSON.stringify({ id: String((this.nextId += 1)), type: 'subscribe', payload: { query } }),
      );
    }
    for (let waited = 0; this.presentStates < taskIds.length; waited += 10) {
      if (waited > 60_000) throw new Error(`Only ${this.presentStates} of ${taskIds.length} present states came.`);
      await sleep(10);
    }
  }

  close(): void {
    for (const socket of this.sockets) socket.close();
  }

  private take(data: Buffer): void {
    const { type, payload } = JSON.parse(data.toString()) as {
      type: string;
      payload?: { data?: { taskUpdated: { taskId: string; status: string } } | null };
    };
    if (type === 'error' || (type === 'next' && !payload?.data)) throw new Error(data.toString());
    if (type !== 'next') return;
    const { taskId, status } = payload!.data!.taskUpdated;
    if (status === 'FAILED') this.onFinal(taskId);
    else this.presentStates += 1;
  }
}

async function oneChangeEach(changer: Service, follower: Follower, count: number): Promise<object> {
  const ids = await createTasks(follower.key, count);
  await follower.subscribe(ids);
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  follower.onFinal = (taskId) => delays.push(performance.now() - sentAt.get(taskId)!);
  const startedAt = performance.now();
  const cancels: Promise<unknown>[] = [];
  for (const [nth, id] of ids.entries()) {
    await sleep(Math.max(0, startedAt + (nth * 1000) / RATE - performance.now()));
    sentAt.set(id, performance.now());
    cancels.push(call(changer, `/v1/tasks/${id}/cancel`, follower.key, {}));
  }
  await Promise.all(cancels);
  return summary(delays, count);
}

async function allOneTask(changer: Service, follower: Follower): Promise<object> {
  const delays: number[] = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    const [id] = await createTasks(follower.key, 1);
    await follower.subscribe(Array.from({ length: SUBSCRIPTIONS }, () => id!));
    await sleep(200);
    const sentAt = performance.now();
    follower.onFinal = () => delays.push(performance.now() - sentAt);
    await call(changer, `/v1/tasks/${id}/cancel`, follower.key, {});
    for (let waited = 0; delays.length < (burst + 1) * SUBSCRIPTIONS && waited < 5_000; waited += 10) await sleep(10);
  }
  return summary(delays, BURSTS * SUBSCRIPTIONS);
}

async function summary(delays: number[], count: number): Promise<object> {
  for (let waited = 0; delays.length < count && waited < 10_000; waited += 50) await sleep(50);
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]! * 10) / 10;
  return { arrived: sorted.length, of: count, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

/** The floor: a WebSocket server that has the message ready, and writes it once for each subscription. */
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
  for (const client of clients) client.terminate();
  server.close();
  return summary(delays, BURSTS * SUBSCRIPTIONS);
}

async function idle(service: Service): Promise<object> {
  const before = await residentMb(service);
  const followers: Follower[] = [];
  for (let open = 0; open < IDLE; open += PER_SOCKET * SOCKETS_PER_KEY) {
    const follower = await Follower.open(service, PER_SOCKET * SOCKETS_PER_KEY, await anotherKey());
    await follower.subscribe(await createTasks(follower.key, PER_SOCKET * SOCKETS_PER_KEY));
    followers.push(follower);
  }
  await sleep(30_000); // two pings, two looks of the feed
  const with10k = await residentMb(service);
  const [{ key }] = followers as [Follower];
  const [probe] = await createTasks(key, 1);
  const startedAt = performance.now();
  await call(service, `/v1/tasks/${probe}/cancel`, key, {});
  const requestMs = Math.round(performance.now() - startedAt);
  for (const follower of followers) follower.close();
  return {
    'resident MB before': before,
    [`resident MB with ${IDLE} subscriptions`]: with10k,
    'a cancel meanwhile, ms': requestMs,
  };
}

/** Of the process, as the kernel counts it. */
async function residentMb({ child }: Service): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

function machine(): string {
  return `${cpus().length} × ${cpus()[0]
    ?.model.replace(/\(.*?\)|\d+-Core Processor/g, '')
    .trim()}, Node ${process.version}`;
}

// Last, as it needs the class above.
try {
  const here = await start();
  const there = await start();
  ms['baseline: bare ws, one message to 1,000'] = await bareFanout();

  const follower = await Follower.open(here, SUBSCRIPTIONS, await anotherKey());
  await oneChangeEach(here, follower, 200); // warm
  ms['each its own task, changed in the same process'] = await oneChangeEach(here, follower, SUBSCRIPTIONS);
  ms['each its own task, changed in the other process'] = await oneChangeEach(there, follower, SUBSCRIPTIONS);
  ms['all the same task, changed in the same process'] = await allOneTask(here, follower);
  ms['all the same task, changed in the other process'] = await allOneTask(there, follower);
  follower.close();

  memory = await idle(await start());
} finally {
  for (const service of services) service.child.kill('SIGKILL');
  await database.leave();
  await rm(folder, { recursive: true, force: true });
}

console.table(ms);
console.table(memory);
const results = new URL('results/', import.meta.url);
await mkdir(results, { recursive: true });
const report = {
  date: new Date().toISOString(),
  commit: commit(),
  machine: machine(),
  load_average: { before: loadBefore, after: loadavg()[0] },
  subscriptions: SUBSCRIPTIONS,
  ms,
  memory,
};
await writeFile(new URL('live-fanout.json', results), `${JSON.stringify(report, null, 2)}\n`);
process.exit(0);
