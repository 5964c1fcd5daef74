import { Client } from 'pg';
import { Api, aFailure } from '../support/clients/api.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually, leastOf } from '../support/wait.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

let service: OwnService;
let database: Client;
const receivers: Receiver[] = [];

async function start(settings: Record<string, string>): Promise<void> {
  service = await startOwnService(settings);
  database = new Client({ connectionString: service.database.url });
  await database.connect();
}
afterEach(async () => {
  await database.end();
  await service.close();
  for (const receiver of receivers.splice(0)) await receiver.stop();
});

async function tenant(answer?: Receiver['answer']) {
  const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'tenant', limits: {} });
  const api = new Api(service.baseUrl, body.key);
  const receiver = await Receiver.start(answer);
  receivers.push(receiver);
  const hooks = new WebhookClient(api);
  return { api, receiver, hooks, endpoint: await hooks.endpoint(receiver.url) };
}

const waiting = async () =>
  Number((await database.query('select count(*) from webhook_dispatches where due_at is not null')).rows[0].count);

it('delivers in time beside dead endpoints with 1,000 waiting events: p95 under 2 s', async () => {
  await start({ WEBHOOK_TIMEOUT_MS: '4000' });
  const dead = await Promise.all([tenant(() => undefined), tenant(() => undefined), tenant(() => undefined)]);
  const alive = await tenant();
  const backlog = [...Array(1000).keys()].map((nth) => () => dead[nth % 3].api.create(aFailure));
  const worker = async () => {
    for (let create = backlog.pop(); create; create = backlog.pop()) await create();
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  await eventually('the backlog', async () => (await waiting()) > 900);
  // The endpoints have failed by now, so the worker makes one attempt at a time.
  await Promise.all(dead.map(({ hooks, endpoint }) => hooks.ended(endpoint.id, 10)));
  await eventually('single probes', async () => dead.every(({ receiver }) => receiver.open <= 1));

  const p95 = async () => {
    alive.receiver.received.length = 0;
    const startedAt = new Map<string, number>();
    for (let nth = 0; nth < 60; nth++) {
      const { body } = await alive.api.create(aFailure);
      startedAt.set(body.task_id, performance.now());
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const received = await alive.receiver.until(60);
    return received
      .map(({ event, at }) => at - (startedAt.get(event.data.task_id) as number))
      .toSorted((a, b) => a - b)[56]!;
  };
  expect(await leastOf(3, 2_000, p95)).toBeLessThan(2_000);
  for (const { receiver } of dead) expect(receiver.mostOpen).toBeLessThanOrEqual(10);
  for (const { receiver } of dead) expect(receiver.open).toBeLessThanOrEqual(1);
}, 180_000);

it('sends waiting events at full speed once the endpoint is back', async () => {
  await start({ WEBHOOK_RETRY_SCHEDULE: '1,1,1,1,1' });
  const { api, receiver, hooks, endpoint } = await tenant((_received, response) => void response.writeHead(500).end());
  for (let nth = 0; nth < 40; nth++) await api.create(aFailure);
  await hooks.ended(endpoint.id, 40);
  receiver.answer = (_received, response) => void response.end();
  const undelivered = 'select count(*) from webhook_dispatches where delivered_at is null';
  await eventually('all to be delivered', async () => (await database.query(undelivered)).rows[0].count === '0');
  const delivered = new Set(receiver.ids);
  expect(delivered.size).toBe(40);
}, 180_000);

it('disables an endpoint that has failed for the configured time and stops its retries; a success resets the time', async () => {
  // 0.0004 h is 1.44 s.
  await start({ WEBHOOK_RETRY_SCHEDULE: '0.5,0.5,0.5,0.5,0.5,0.5,60', WEBHOOK_DISABLE_AFTER_HOURS: '0.0004' });
  const failing = await tenant((_received, response) => void response.writeHead(500).end());
  await failing.api.create(aFailure);
  const disabled = async () => (await failing.hooks.read(failing.endpoint.id)).body.status === 'disabled';
  await eventually('it to be disabled', disabled);
  expect((await failing.hooks.read(failing.endpoint.id)).body).toMatchObject({ disabled_reason: 'failing' });
  const log = (await failing.hooks.deliveries(failing.endpoint.id)).data;
  expect(log[0].next_attempt_at).toBeNull();
  expect(await waiting()).toBe(0);

  let calls = 0;
  const shaky = await tenant((_received, response) => void response.writeHead(calls++ % 2 === 0 ? 500 : 200).end());
  for (let nth = 0; nth < 5; nth++) {
    await shaky.api.create(aFailure);
    await shaky.receiver.until(2 * (nth + 1));
  }
  expect((await shaky.hooks.read(shaky.endpoint.id)).body.status).toBe('enabled');
}, 180_000);

it('makes no further attempt for an endpoint that is disabled or deleted while attempts wait or are in flight', async () => {
  await start({ WEBHOOK_RETRY_SCHEDULE: '0.5', WEBHOOK_TIMEOUT_MS: '1000' });
  const one = await tenant(() => undefined);
  const other = await tenant(() => undefined);
  await Promise.all([one, other].map(({ api }) => api.create(aFailure)));
  await Promise.all([one, other].map(({ receiver }) => receiver.until(1)));
  await one.hooks.change(one.endpoint.id, { status: 'disabled' });
  expect((await other.hooks.remove(other.endpoint.id)).status).toBe(204);
  expect(await one.hooks.ended(one.endpoint.id, 1)).toMatchObject([{ error: 'timeout', next_attempt_at: null }]);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  for (const { receiver } of [one, other]) expect(receiver.received).toHaveLength(1);
}, 180_000);

it('deletes events and their log with the retention of their tasks', async () => {
  await start({});
  const { api, hooks, endpoint } = await tenant();
  await api.create(aFailure);
  await hooks.ended(endpoint.id, 1);
  const eventId = (await hooks.deliveries(endpoint.id)).data[0].event_id;
  await database.query(`update webhook_events set expires_at = now() - interval '1 second'`);
  expect((await hooks.redeliver(eventId)).status).toBe(404);
  await eventually('the log to be purged', async () => (await hooks.deliveries(endpoint.id)).data.length === 0);
});

it('records the other attempts of a batch when the event of one was deleted before its answer', async () => {
  await start({});
  const answer = Promise.withResolvers<void>();
  const { api, receiver, hooks, endpoint } = await tenant(async (_received, response) => {
    await answer.promise;
    response.end();
  });
  for (let nth = 0; nth < 5; nth++) await api.create(aFailure);
  const [first, ...others] = (await receiver.until(5)).map(({ event }) => event.id);
  await database.query('delete from webhook_events where id = $1', [first]);
  answer.resolve();
  const logged = await hooks.ended(endpoint.id, 4);
  expect(logged.map(({ event_id }) => event_id).toSorted()).toEqual(others.toSorted());
  expect(logged.every(({ status_code, next_attempt_at }) => status_code === 200 && next_attempt_at === null)).toBe(
    true,
  );
  await api.create(aFailure); // and continues
  await receiver.until(6);
});

it('encrypts secrets in the database', async () => {
  await start({});
  const { hooks, endpoint } = await tenant();
  const { secret } = (await hooks.rotate(endpoint.id, { keep_old_secret_for_hours: 1 })).body;
  const { rows } = await database.query('select * from webhook_endpoints');
  const stored = Object.values(rows[0]).map((value) =>
    Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
  );
  for (const known of [secret as string, endpoint.secret]) {
    const bytes = Buffer.from(known.slice(6), 'base64').toString('latin1');
    for (const value of stored) expect(value.includes(known.slice(6)) || value.includes(bytes)).toBe(false);
  }
});
