import { Api, aFailure } from '../support/clients/api.ts';
import { testEnv, withPatience } from '../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { allReady, type ServiceProcess, spawnService } from '../support/process.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { freePort } from '../support/free-port.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { eventually } from '../support/wait.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

/** No attempt reaches it: receivers hang until the test has ended the workers. */
const TIMEOUT_S = 60;
/** Seconds until a lost attempt is detected: the time-out and 5 s of grace. */
const LEASE_S = TIMEOUT_S + 5;
const QUICK = {
  WEBHOOK_TIMEOUT_MS: String(TIMEOUT_S * 1_000),
  TASK_SWEEP_S: '0.5',
  WEBHOOK_RETRY_SCHEDULE: '1,1,1,1',
};

let database: TestDatabase;
let receiver: Receiver;
let env: Record<string, string>;
let api: Api;
let hooks: WebhookClient;
/** An API process, which survives. */
let front: ServiceProcess;
/** Those that are left by the test before; each test ends what it begins with. */
let workers: ServiceProcess[] = [];
beforeAll(async () => {
  database = await cloneDatabase();
  ({ env } = await testEnv(withPatience(database.url), { ...QUICK, ROLE: 'api' }));
  const [first, ...others] = await allReady([spawnService(env), startWorker(), startWorker()]);
  front = first;
  workers = others;
  ({ api } = front);
  hooks = new WebhookClient(api);
});
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  for (const { id } of (await hooks.list()).body.data) await hooks.remove(id);
  await receiver.stop();
});
afterAll(async () => {
  await Promise.all([front, ...workers].map((service) => service?.kill('SIGKILL')));
  await database.drop();
});

const startWorker = async () => spawnService({ ...env, ROLE: 'worker', PORT: String(await freePort()) });

/** Ends all workers with the signal. */
const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill(signal)));
};

/** As if the time had passed for which attempts belong to the killed workers. */
const lapse = async () => {
  const leases = await queryOnce<{ left_s: number }>(
    database.url,
    `with held as (select event_id, endpoint_id, lease_until from webhook_dispatches where lease_until is not null)
     update webhook_dispatches d set lease_until = now() - interval '1 s' from held h
     where d.event_id = h.event_id and d.endpoint_id = h.endpoint_id
     returning extract(epoch from h.lease_until - now())::float8 as left_s`,
  );
  for (const { left_s } of leases) expect(left_s).toBeLessThan(LEASE_S);
  return leases.length;
};

const createAll = async (count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await api.create(aFailure)).body.task_id));

/** How often each task was delivered. */
const timesDelivered = (): Map<string, number> => {
  const delivered = new Map<string, number>();
  for (const { event } of receiver.received)
    delivered.set(event.data.task_id, (delivered.get(event.data.task_id) ?? 0) + 1);
  return delivered;
};

it('two workers never make two attempts of one event at once, nor more than ten at one endpoint', async () => {
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
  await createAll(60);
  await eventually('every task to be delivered', async () => timesDelivered().size === 60);
  expect(twice).toBe(0);
  expect(receiver.mostOpen).toBeLessThanOrEqual(10);
});

it('SIGTERM releases attempts in flight, without using up the schedule', async () => {
  const { id } = await hooks.endpoint(receiver.url);
  receiver.answer = () => undefined;
  await createAll(8);
  await receiver.until(8);
  receiver.answer = (_received, response) => void response.end();
  await end('SIGTERM');
  workers = [await startWorker()];
  await receiver.until(16);
  await hooks.ended(id, 16);
  expect(timesDelivered().size).toBe(8);
  expect([...timesDelivered().values()].every((times) => times === 2)).toBe(true);
});

it('kill -9 between the 200 and our commit: at most one repetition with the same id, and no loss', async () => {
  const { id: endpointId } = await hooks.endpoint(receiver.url);
  const killed = Promise.withResolvers<void>();
  receiver.answer = async (_received, response) => {
    response.writeHead(200).end();
    if (receiver.received.length === 12) await end('SIGKILL').then(killed.resolve);
  };
  const made = await createAll(30);
  await killed.promise;
  await lapse();
  workers = [await startWorker()];
  await eventually('every task to be delivered', async () => timesDelivered().size === made.length);
  const unsettled = 'select from webhook_dispatches where delivered_at is null and endpoint_id = $1';
  const isSettled = async () => (await queryOnce(database.url, unsettled, [endpointId])).length === 0;
  await eventually('every delivery to be noted, so that no repetition comes any more', isSettled);
  for (const id of made) expect(timesDelivered().get(id)).toBeLessThanOrEqual(2);
  const repeated = receiver.received.length - made.length;
  expect(repeated).toBeLessThanOrEqual(10); // the attempts in flight
  const idOf = new Map(receiver.received.map(({ event, headers }) => [event.data.task_id, headers['webhook-id']]));
  for (const { event, headers } of receiver.received) expect(headers['webhook-id']).toBe(idOf.get(event.data.task_id));
  expect(new Set(receiver.ids).size).toBe(made.length);
});

it('kill -9 before the receiver answers: the attempt is logged as failed and repeated', async () => {
  const { id } = await hooks.endpoint(receiver.url);
  receiver.answer = () => undefined;
  await createAll(1);
  await receiver.until(1);
  await end('SIGKILL');
  expect(await lapse()).toBe(1);
  receiver.answer = (_received, response) => void response.end();
  workers = [await startWorker()];
  await receiver.until(2);
  expect(await hooks.ended(id, 2)).toMatchObject([
    { attempt: 1, error: 'connect_failed', status_code: null },
    { attempt: 2, error: null, status_code: 200 },
  ]);
  expect(receiver.received[1].body).toBe(receiver.received[0].body);
});
