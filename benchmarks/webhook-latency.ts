/**
 * How long after a task's final state does its webhook arrive, at 50 ends a second? Beside it the same with a dead
 * endpoint that has 1,000 events waiting, and as the baseline the same requests sent straight to the receiver.
 *
 *     npm run build && node benchmarks/webhook-latency.ts [seconds, 20 when left out]
 *
 * The service is dist/main.js with its embedded database, in a folder of its own. The final state is the `timestamp` of the
 * body, by the clock of the database on the same machine.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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
const folder = await mkdtemp(join(tmpdir(), 'darkroom-bench-'));
const service = await start();

const results: Record<string, object> = {};
try {
  results['baseline: straight to the receiver'] = await measure(() =>
    post(urlOf(alive), null, { timestamp: new Date().toISOString() }),
  );
  const one = await tenant(alive);
  await measure(one, 3); // warm
  results['one endpoint'] = await measure(one);
  const other = await tenant(dead);
  for (let left = WAITING; left > 0; left -= AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, other));
  results['beside a dead endpoint with 1,000 events waiting'] = await measure(one);
} finally {
  service.child.kill('SIGTERM');
  await once(service.child, 'exit');
  for (const server of [alive, dead]) server.closeAllConnections();
  for (const server of [alive, dead]) server.close();
  await rm(folder, { recursive: true, force: true });
}
console.table(results);
await mkdir(new URL('results/', import.meta.url), { recursive: true });
await writeFile(
  new URL('results/webhook-latency.json', import.meta.url),
  `${JSON.stringify({ date: new Date().toISOString(), commit: commit(), machine: machine(), per_second: PER_SECOND, seconds: SECONDS, ms: results }, null, 2)}\n`,
);

/** Calls `create` at the rate, waits for all webhooks, and tells the delays in milliseconds. */
async function measure(create: () => Promise<unknown>, seconds = SECONDS): Promise<object> {
  delays.length = 0;
  const count = PER_SECOND * seconds;
  const startedAt = performance.now();
  const made: Promise<unknown>[] = [];
  for (let nth = 0; nth < count; nth++) {
    await sleep(Math.max(0, startedAt + (nth * 1000) / PER_SECOND - performance.now()));
    made.push(create());
  }
  await Promise.all(made);
  for (let waited = 0; delays.length < count && waited < 60_000; waited += 50) await sleep(50);
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { arrived: sorted.length, of: count, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

/** An API key with this endpoint. @returns how to create a task that ends at once */
async function tenant(receiver: Server): Promise<() => Promise<unknown>> {
  const { key } = await post<{ key: string }>(`${service.url}/v1/api_keys`, service.key, { name: 'bench' });
  await post(`${service.url}/v1/webhook_endpoints`, key, { url: urlOf(receiver) });
  return () => post(`${service.url}/v1/generations`, key, aFailure);
}

async function post<Answer>(url: string, key: string | null, body: object): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text === '' ? ({} as Answer) : (JSON.parse(text) as Answer);
}

/** @param take null: takes every request and never answers */
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

async function start() {
  const port = await freePort();
  const child = spawn(process.execPath, [new URL('../dist/main.js', import.meta.url).pathname], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
      OUTBOUND_ALLOW_HTTP: 'true',
      RATE_CREATE_PER_MIN: '0',
      RATE_READ_PER_MIN: '0',
      SHUTDOWN_GRACE_S: '1',
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  while (!output.includes('Darkroom is ready')) {
    if (child.exitCode !== null) throw new Error(output);
    await sleep(50);
  }
  const key = /dr_[0-9A-Za-z]{46}/.exec(output)?.[0];
  if (!key) throw new Error('The service showed no key.');
  return { child, url: `http://127.0.0.1:${port}`, key };
}

async function freePort(): Promise<number> {
  const server = await listen(null);
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function commit(): string | null {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return null; // an unpacked archive has no history
  }
}

function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
}
