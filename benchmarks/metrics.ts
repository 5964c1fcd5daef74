/**
 * What do the metrics of one request cost? The figures are microseconds of processor time, for parts of a request and
 * for a creation; for a scrape they are milliseconds.
 *
 *     npm run bench -- metrics
 *
 * The requests of one turn of the event loop share statements, batches and connections. `alone` is a creation that
 * shares nothing, `of 16` one of sixteen that share a flush.
 */
import { createServer } from 'node:http';
import { fastify as createFastify } from 'fastify';

const built = async <Module>(path: string) =>
  (await import(new URL(`../dist/${path}`, import.meta.url).href)) as Module;
const { keyChecked } = await built<typeof import('../src/auth/credentials/authenticator.ts')>(
  'auth/credentials/authenticator.js',
);
const { batchLoad, flushed } =
  await built<typeof import('../src/platform/database/batch.ts')>('platform/database/batch.js');
const { connectionAwaited } = await built<typeof import('../src/platform/database/pool-metrics.ts')>(
  'platform/database/pool-metrics.js',
);
const { measured } = await built<typeof import('../src/platform/database/statement-metrics.ts')>(
  'platform/database/statement-metrics.js',
);
const { eventsSent } = await built<typeof import('../src/platform/events/bus-metrics.ts')>(
  'platform/events/bus-metrics.js',
);
const { measureRequests } = await built<typeof import('../src/platform/http/observe-requests.ts')>(
  'platform/http/observe-requests.js',
);
const { Metrics } = await built<typeof import('../src/platform/observe/measuring/metrics.ts')>(
  'platform/observe/measuring/metrics.js',
);
const { tasksCreated } =
  await built<typeof import('../src/tasks/queue/task-metrics.ts')>('tasks/queue/task-metrics.js');

const ROUNDS = 9;
const CALLS = 200_000;

/** The least of several rounds, because other work of the machine only adds time. @returns microseconds a call */
async function cost(call: () => unknown): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = process.cpuUsage();
    for (let nth = 0; nth < CALLS; nth += 1) call();
    await new Promise((resolve) => setImmediate(resolve));
    const { user, system } = process.cpuUsage(begun);
    least = Math.min(least, (user + system) / CALLS);
  }
  return Math.round(least * 100) / 100;
}

/** The hook that fastify would call after a response. */
function responseHook(): () => void {
  let hook: (request: object, reply: object, done: () => void) => void = () => undefined;
  const fastify = createFastify({ serverFactory: (handler) => createServer(handler) });
  fastify.addHook = ((_name: string, added: typeof hook) => (hook = added)) as never;
  measureRequests(fastify as never);
  const request = { method: 'POST', routeOptions: { url: '/v1/generations' } };
  const reply = { statusCode: 201, elapsedTime: 12.5, raw: {} };
  return () => hook(request, reply, () => undefined);
}

const load = batchLoad('tasks.create');
const done = Promise.resolve();
const response = responseHook();
const tasks = [{ model: 'gpt-image-2' }];

const rows = {
  'a response': await cost(response),
  'a tally': await cost(() => keyChecked('cached')),
  'a connection': await cost(() => connectionAwaited(0)),
  'a statement': await cost(() => measured('tasks.create', () => done)),
  'a flush': await cost(() => flushed(load, 16, 0)),
  'the news of a creation': await cost(() => (eventsSent('task'), eventsSent('work'))),
  'a created task': await cost(() => tasksCreated(tasks)),
};
const own = rows['a response'] + rows['a tally'] + rows['the news of a creation'] + rows['a created task'];
const shared = rows['a connection'] + rows['a statement'] + rows['a flush'];
const round = (us: number): number => Math.round(us * 100) / 100;

const metrics = new Metrics();
const begunMs = performance.now();
const lines = (await metrics.registry.metrics()).split('\n').length;
console.table({ ...rows, 'a creation of 16': round(own + shared / 16), 'a creation alone': round(own + shared) });
console.log(`A scrape of ${lines} lines: ${Math.round(performance.now() - begunMs)} ms`);
