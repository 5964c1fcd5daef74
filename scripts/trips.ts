/**
 * Counts the files of `dist` and `packages` that run for one warm request: `npm run trips`, after `npm run build`. The
 * more files a request runs through, the more a reader has to open. `npm run trips -- get` lists the files of that trip
 * too. V8 says which functions ran. Functions that also run without any request are left out, and so are those that did
 * not run every time.
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { type Profiler, Session } from 'node:inspector/promises';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';

const ROOT = new URL('../', import.meta.url).href;
const DIST = `${ROOT}dist/`;
const BUILT = [DIST, `${ROOT}packages/`];
const WARM_UP = 4;
const COUNTED = 4;
/** Long enough for several rounds of every interval of the service, except the rare ones. */
const IDLE_MS = 4_000;
/** After this time, work that follows an answer or the end of a task has run. */
const SETTLED_MS = 200;

const built = (path: string) => import(DIST + path);
const profiler = new Session();
profiler.connect();

/** The functions that ran since the last call, as `file function position`. */
async function ran(): Promise<Set<string>> {
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  const ownScripts = (result as Profiler.ScriptCoverage[]).filter(({ url }) =>
    BUILT.some((folder) => url.startsWith(folder)),
  );
  return new Set(
    ownScripts.flatMap(({ url, functions }) =>
      functions
        .filter(({ ranges }) => ranges[0]!.count > 0)
        .map(({ functionName, ranges }) => `${url.slice(ROOT.length)} ${functionName} ${ranges[0]!.startOffset}`),
    ),
  );
}

/** @returns the files that run for a trip, sorted */
async function filesOf(trip: () => Promise<unknown>, idle: ReadonlySet<string>): Promise<string[]> {
  for (let time = 0; time < WARM_UP; time += 1) await trip();
  let everyTime: Set<string> | undefined;
  for (let time = 0; time < COUNTED; time += 1) {
    await sleep(SETTLED_MS);
    await ran();
    await trip();
    const now = await ran();
    everyTime = everyTime?.intersection(now) ?? now;
  }
  const functions = everyTime!.difference(idle);
  return [...new Set([...functions].map((each) => each.split(' ')[0]!))].toSorted();
}

/** Runs the service in this process. @returns the files of each trip */
async function count(
  settings: Record<string, string>,
  trips: Record<string, (ask: Ask) => Promise<unknown>>,
): Promise<Record<string, string[]>> {
  const dataDir = process.env.DATA_DIR ?? (await mkdtemp(join(tmpdir(), 'darkroom-trips-')));
  const [{ startService }, { loadConfig }, { newApiKey }] = await Promise.all([
    built('start-service.js'),
    built('platform/config/config.js'),
    built('auth/credentials/api-key-format.js'),
  ]);
  const key: string = newApiKey();
  const service = await startService(
    loadConfig({
      DATABASE_URL: process.env.DATABASE_URL,
      DATA_DIR: dataDir,
      SECRET_KEY: '0'.repeat(64),
      BOOTSTRAP_API_KEY: key,
      PORT: '0',
      PUBLIC_URL: 'http://127.0.0.1', // links are not followed here
      LOG_LEVEL: 'silent',
      RATE_CREATE_PER_MIN: '0',
      RATE_READ_PER_MIN: '0',
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
      OUTBOUND_ALLOW_HTTP: 'true',
      ...settings,
    }),
  );
  const { port } = service.app.getHttpServer().address() as AddressInfo;
  const ask: Ask = async (method, path, body, headers = {}) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  try {
    await profiler.post('Profiler.enable');
    await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await sleep(IDLE_MS);
    const idle = await ran();
    const found: Record<string, string[]> = {};
    for (const [name, trip] of Object.entries(trips)) found[name] = await filesOf(() => trip(ask), idle);
    return found;
  } finally {
    await profiler.post('Profiler.stopPreciseCoverage');
    await service.stop();
    if (!process.env.DATA_DIR) await rm(dataDir, { recursive: true, force: true });
  }
}

type Ask = (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<any>;

const picture = { model: 'gpt-image-2', prompt: 'A cat on a roof' };
const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
  .png()
  .toBuffer();
let delivered = Promise.withResolvers<void>();
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    response.end();
    delivered.resolve();
  });
});
await once(receiver.listen(0, '127.0.0.1'), 'listening');
const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

const taskIds: string[] = [];
const graphql = (query: string) => (ask: Ask) => ask('POST', '/graphql', { query, variables: { id: taskIds[0] } });
const create = (ask: Ask) => ask('POST', '/v1/generations', picture);
async function toItsEnd(ask: Ask): Promise<void> {
  const { task_id } = await create(ask);
  await ask('GET', `/v1/tasks/${task_id}?wait=60`);
}

/** Trips of a service without a worker. */
const requests = {
  post: async (ask: Ask) => taskIds.push((await create(ask)).task_id),
  'keyed post': (ask: Ask) =>
    ask('POST', '/v1/generations', picture, { 'idempotency-key': `trip-${performance.now()}` }),
  get: (ask: Ask) => ask('GET', `/v1/tasks/${taskIds[0]}`),
  list: (ask: Ask) => ask('GET', '/v1/tasks?limit=5'),
  'graphql task': graphql('query ($id: String!) { task(taskId: $id) { taskId status progress } }'),
  'graphql tasks': graphql('{ tasks(first: 5) { edges { node { taskId status } } } }'),
  cancel: (ask: Ask) => ask('POST', `/v1/tasks/${taskIds.pop()}/cancel`),
  'create a key': (ask: Ask) => ask('POST', '/v1/api_keys', { name: 'A trip' }),
  models: (ask: Ask) => ask('GET', '/v1/models'),
  'upload a picture': (ask: Ask) => {
    const form = new FormData();
    form.set('file', new File([new Uint8Array(png)], 'a.png', { type: 'image/png' }));
    return ask('POST', '/v1/files', form);
  },
};
let endpoint: Promise<unknown> | undefined;
const tasks = {
  'task to its end': async (ask: Ask) => {
    await toItsEnd(ask);
    await sleep(SETTLED_MS);
  },
  'the same with a webhook': async (ask: Ask) => {
    await (endpoint ??= ask('POST', '/v1/webhook_endpoints', { url: webhook }));
    delivered = Promise.withResolvers();
    await toItsEnd(ask);
    await delivered.promise;
    await sleep(SETTLED_MS);
  },
};

const [shown] = process.argv.slice(2);
const json = { '--json=requests': requests, '--json=tasks': tasks }[shown ?? ''];
const found = {
  ...(json === tasks ? {} : await count({ ROLE: 'api' }, requests)),
  ...(json === requests ? {} : await count({}, tasks)),
};
receiver.close();

if (json) console.log(JSON.stringify(found));
else {
  for (const [name, files] of Object.entries(found)) console.log(`${String(files.length).padStart(4)}  ${name}`);
  if (shown) console.log((found as Record<string, string[]>)[shown]?.join('\n') ?? `There is no trip ${shown}.`);
}
process.exit();
