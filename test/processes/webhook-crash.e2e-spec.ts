import { Api, aFailure } from '../support/clients/api.ts';
import { testEnv } from '../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

/** A lost attempt is detected after the time-out, 5 s of grace, and one interval of the sweep. */
const QUICK = { WEBHOOK_TIMEOUT_MS: '4000', TASK_SWEEP_S: '0.5', WEBHOOK_RETRY_SCHEDULE: '1,1,1,1' };

let database: TestDatabase;
let receiver: Receiver;
const running: ServiceProcess[] = [];
beforeEach(async () => {
  database = await cloneDatabase();
  receiver = await Receiver.start();
});
afterEach(async () => {
  for (const service of running.splice(0)) await service.kill('SIGKILL');
  await receiver.stop();
  await database.drop();
});

async function start(settings: Record<string, string>) {
  const { env } = await testEnv(database.url, { ...QUICK, ...settings });
  const service = await spawnService(env);
  running.push(service);
  return { ...service, env };
}

/** An API process, which survives, and a worker. */
async function apiAndWorker() {
  const api = await start({ ROLE: 'api' });
  const { BOOTSTRAP_API_KEY, DATA_DIR } = api.env as { BOOTSTRAP_API_KEY: string; DATA_DIR: string };
  const startWorker = () => start({ ROLE: 'worker', BOOTSTRAP_API_KEY, DATA_DIR });
  return { api: api.api, hooks: new WebhookClient(api.api), startWorker, worker: await startWorker() };
}

const createAll = async (api: Api, count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await api.create(aFailure)).body.task_id));

/** How often each task was delivered. */
const timesDelivered = (): Map<string, number> => {
  const delivered = new Map<string, number>();
  for (const { event } of receiver.received)
    delivered.set(event.data.task_id, (delivered.get(event.data.task_id) ?? 0) + 1);
  return delivered;
};

it('kill -9 between the 200 and our commit: at most one repetition with the same id, and no loss', async () => {
  const { api, hooks, startWorker, worker } = await apiAndWorker();
  await hooks.endpoint(receiver.url);
  receiver.answer = async (_received, response) => {
    response.writeHead(200).end();
    if (receiver.received.length === 12) await worker.kill('SIGKILL');
  };
  const made = await createAll(api, 30);
  await eventually('the worker to be killed', async () => worker.child.signalCode === 'SIGKILL');
  await startWorker();
  await eventually('every task to be delivered', async () => timesDelivered().size === made.length);
  await new Promise((resolve) => setTimeout(resolve, 11_000)); // longer than a lease, so that a late repetition would have arrived
  for (const id of made) expect(timesDelivered().get(id)).toBeLessThanOrEqual(2);
  const repeated = receiver.received.length - made.length;
  expect(repeated).toBeLessThanOrEqual(10); // the attempts in flight
  const idOf = new Map(receiver.received.map(({ event, headers }) => [event.data.task_id, headers['webhook-id']]));
  for (const { event, headers } of receiver.received) expect(headers['webhook-id']).toBe(idOf.get(event.data.task_id));
  expect(new Set(receiver.ids).size).toBe(made.length);
}, 180_000);

it('kill -9 before the receiver answers: the attempt is logged as failed and repeated', async () => {
  const { api, hooks, startWorker, worker } = await apiAndWorker();
  const { id } = await hooks.endpoint(receiver.url);
  receiver.answer = () => undefined;
  await createAll(api, 1);
  await receiver.until(1);
  await worker.kill('SIGKILL');
  receiver.answer = (_received, response) => void response.end();
  await startWorker();
  await receiver.until(2, 60_000);
  expect(await hooks.ended(id, 2)).toMatchObject([
    { attempt: 1, error: 'connect_failed', status_code: null },
    { attempt: 2, error: null, status_code: 200 },
  ]);
  expect(receiver.received[1].body).toBe(receiver.received[0].body);
}, 180_000);

it('SIGTERM releases attempts in flight, without using up the schedule', async () => {
  const { api, hooks, startWorker, worker } = await apiAndWorker();
  const { id } = await hooks.endpoint(receiver.url);
  const other = await startWorker();
  receiver.answer = () => undefined;
  await createAll(api, 8);
  await receiver.until(8);
  receiver.answer = (_received, response) => void response.end();
  await Promise.all([worker, other].map((process) => process.kill('SIGTERM')));
  await startWorker();
  await receiver.until(16, 60_000);
  await hooks.ended(id, 16);
  expect(timesDelivered().size).toBe(8);
  expect([...timesDelivered().values()].every((times) => times === 2)).toBe(true);
}, 180_000);

it('two workers never make two attempts of one event at once, nor more than ten at one endpoint', async () => {
  const { api, hooks, startWorker } = await apiAndWorker();
  await startWorker();
  await hooks.endpoint(receiver.url);
  const open = new Map<string, number>();
  let twice = 0;
  receiver.answer = ({ event }, response) => {
    open.set(event.id, (open.get(event.id) ?? 0) + 1);
    if (open.get(event.id) !== 1) twice += 1;
    setTimeout(() => {
      open.set(event.id, 0);
      response.writeHead(Math.random() < 0.3 ? 500 : 200).end();
    }, 20);
  };
  await createAll(api, 200);
  await eventually('every task to be delivered', async () => timesDelivered().size === 200, 90_000);
  expect(twice).toBe(0);
  expect(receiver.mostOpen).toBeLessThanOrEqual(10);
}, 180_000);
