import { Client } from 'pg';
import { aCat, Api, aFailure } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

let service: SharedService;
let database: Client;
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await joinService();
  database = new Client({ connectionString: service.database.url });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await service.close();
  for (const receiver of receivers) await receiver.stop();
});

const refusing: Receiver['answer'] = (_received, response) => void response.writeHead(500).end();

async function tenant(answer?: Receiver['answer']) {
  const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'tenant', limits: {} });
  const api = new Api(service.baseUrl, body.key);
  const receiver = await Receiver.start(answer);
  receivers.push(receiver);
  const hooks = new WebhookClient(api);
  const endpoint = await hooks.endpoint(receiver.url);
  const all = (condition: string) =>
    database
      .query(`select 1 from webhook_dispatches where endpoint_id = $1 and ${condition}`, [endpoint.id])
      .then(({ rows }) => rows.length);
  /** Moves the time of the waiting attempts, as if the gap of the schedule had passed. */
  const makeDue = () =>
    database.query('update webhook_dispatches set due_at = now() where endpoint_id = $1 and due_at > now()', [
      endpoint.id,
    ]);
  const read = async () => (await hooks.read<{ failing_since: number | null; status: string }>(endpoint.id)).body;
  const isFailing = () => eventually('the endpoint to fail', async () => (await read()).failing_since !== null);
  return { api, receiver, hooks, endpoint, all, makeDue, read, isFailing };
}

it('makes one attempt at a time at dead endpoints, however much waits there, and delivers to others meanwhile', async () => {
  const dead = await Promise.all([tenant(refusing), tenant(refusing), tenant(refusing)]);
  await Promise.all(dead.map(({ api }) => api.create(aFailure)));
  await Promise.all(dead.map(({ isFailing }) => isFailing()));
  for (const { receiver } of dead) receiver.answer = () => undefined;
  for (let nth = 0; nth < 10; nth++) await Promise.all(dead.map(({ api }) => api.create(aFailure)));
  await eventually('the probes', async () => dead.every(({ receiver }) => receiver.open === 1));
  await eventually('the backlog', async () => (await dead[2]!.all('due_at <= now()')) > 5);
  for (const { receiver } of dead) receiver.mostOpen = 1;
  const alive = await tenant();
  for (let nth = 0; nth < 20; nth++) await alive.api.create(aFailure);
  await alive.receiver.until(20);
  for (const { all, receiver } of dead) {
    expect(await all('due_at <= now()')).toBeGreaterThan(5);
    expect(receiver.mostOpen).toBe(1);
  }
  for (const { hooks, endpoint } of dead) await hooks.remove(endpoint.id);
});

it('makes at most ten attempts at once at an endpoint that hangs', async () => {
  const { api, receiver, hooks, endpoint, all } = await tenant(() => undefined);
  for (let nth = 0; nth < 15; nth++) await api.create(aFailure);
  await eventually('ten attempts', async () => receiver.open === 10);
  await eventually('the others to wait', async () => (await all('due_at is not null')) === 5);
  expect(receiver.mostOpen).toBe(10);
  await hooks.remove(endpoint.id);
});

it('delivers to others while many endpoints take as long as they may, however much waits there', async () => {
  const slow = await Receiver.start(() => undefined);
  const keyIds: string[] = [];
  for (let nth = 0; nth < 6; nth++) {
    const { body } = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', { name: 'slow' });
    const api = new Api(service.baseUrl, body.key);
    for (let of = 0; of < 10; of++) await new WebhookClient(api).endpoint(slow.url);
    for (let of = 0; of < 10; of++) await api.create(aFailure);
    keyIds.push(body.id);
  }
  await eventually('a crowd', async () => slow.open > 250);
  const other = await tenant();
  await other.api.create(aFailure);
  await other.receiver.until(1);
  // 250, and one at each of the 60 endpoints.
  expect(slow.mostOpen).toBeLessThanOrEqual(310);
  for (const id of keyIds) await service.api.call('DELETE', `/v1/api_keys/${id}`);
  await slow.stop(); // which ends its attempts
});

it('sends waiting events ten at a time once the endpoint is back', async () => {
  const { api, receiver, hooks, endpoint, all, makeDue } = await tenant(refusing);
  for (let nth = 0; nth < 40; nth++) await api.create(aFailure);
  await hooks.ended(endpoint.id, 40);
  const tenAtOnce = Promise.withResolvers<void>();
  receiver.received.length = 0;
  receiver.answer = async (_received, response) => {
    if (receiver.received.length > 1) await tenAtOnce.promise;
    response.end();
  };
  await makeDue();
  await eventually('ten attempts at once', async () => receiver.open === 10);
  tenAtOnce.resolve();
  await eventually('all to be delivered', async () => (await all('delivered_at is null')) === 0);
  expect(new Set(receiver.ids).size).toBe(40);
});

it('disables an endpoint that has failed for the configured time and stops its retries; a success resets the time', async () => {
  const { api, receiver, hooks, endpoint, all, makeDue, read, isFailing } = await tenant(refusing);
  /** Of WEBHOOK_DISABLE_AFTER_HOURS by default, and a little more. */
  const failFor121Hours = () =>
    database.query(`update webhook_endpoints set failing_since = now() - interval '121 hours' where id = $1`, [
      endpoint.id,
    ]);
  await api.create(aFailure);
  await isFailing();
  await failFor121Hours();
  receiver.answer = (_received, response) => void response.end();
  await makeDue();
  await eventually('a success', async () => (await read()).failing_since === null);
  receiver.answer = refusing;
  await api.create(aFailure);
  await isFailing();
  expect((await read()).status).toBe('enabled');

  await failFor121Hours();
  await makeDue();
  await eventually('it to be disabled', async () => (await read()).status === 'disabled');
  expect(await read()).toMatchObject({ disabled_reason: 'failing' });
  expect((await hooks.deliveries(endpoint.id)).data[0]!.next_attempt_at).toBeNull();
  expect(await all('due_at is not null')).toBe(0);
});

it('makes no further attempt for an endpoint that is disabled or deleted while attempts wait or are in flight', async () => {
  const answer = Promise.withResolvers<void>();
  const held: Receiver['answer'] = async (_received, response) => {
    await answer.promise;
    response.writeHead(500).end();
  };
  const inFlight = await tenant(held);
  const deleted = await tenant(held);
  const waiting = await tenant(refusing);
  await Promise.all([inFlight, deleted, waiting].map(({ api }) => api.create(aFailure)));
  await Promise.all([inFlight, deleted].map(({ receiver }) => receiver.until(1)));
  await waiting.hooks.ended(waiting.endpoint.id, 1);
  for (const { hooks, endpoint } of [inFlight, waiting]) await hooks.change(endpoint.id, { status: 'disabled' });
  expect((await deleted.hooks.remove(deleted.endpoint.id)).status).toBe(204);
  answer.resolve();
  for (const { hooks, endpoint, all } of [inFlight, waiting]) {
    expect(await hooks.ended(endpoint.id, 1)).toMatchObject([{ status_code: 500, next_attempt_at: null }]);
    expect(await all('due_at is not null')).toBe(0);
  }
  expect(await deleted.all('true')).toBe(0);
  // Nor later, when the endpoint takes events again.
  for (const { api, hooks, endpoint, receiver } of [inFlight, waiting]) {
    receiver.answer = (_received, response) => void response.end();
    await hooks.change(endpoint.id, { status: 'enabled' });
    const { body } = await api.create(aFailure);
    const [, second, ...more] = await receiver.until(2);
    expect([second!.event.data.task_id, more]).toEqual([body.task_id, []]);
  }
  expect(deleted.receiver.received).toHaveLength(1);
});

it('removes the history of a deleted endpoint in pieces, before it locks the endpoint', async () => {
  const { hooks, endpoint, all, read } = await tenant();
  const id = [endpoint.id];
  await database.query(
    `insert into webhook_dispatches (event_id, endpoint_id, attempt, delivered_at)
     select $1::text || n, $1::text, 1, now() from generate_series(1, 5001) n`,
    id,
  );
  await database.query(
    `insert into webhook_deliveries (id, event_id, endpoint_id, event_type, attempt, trigger, attempted_at)
     select $1::text || n, $1::text || n, $1::text, 'task.failed', 1, 'scheduled', now() from generate_series(1, 5001) n`,
    id,
  );
  await database.query('begin');
  await database.query('select from webhook_endpoints where id = $1 for key share', id);
  const refused = await hooks.remove(endpoint.id).finally(() => database.query('rollback'));
  expect(refused.status).toBe(503);
  expect(await all('true')).toBe(0);
  const attempts = await database.query('select from webhook_deliveries where endpoint_id = $1', id);
  expect(attempts.rows).toEqual([]);
  expect(await read()).toMatchObject({ status: 'disabled' });
  expect((await hooks.remove(endpoint.id)).status).toBe(204);
});

it('deletes what is due at an endpoint that is not there any more', async () => {
  const { hooks, endpoint, all } = await tenant();
  await hooks.remove(endpoint.id);
  const left = `insert into webhook_dispatches (event_id, endpoint_id, due_at) values ('evt_left', $1, now() - interval '1 hour')`;
  await database.query(left, [endpoint.id]);
  await eventually('the sweep', async () => (await all('true')) === 0);
});

it('ends a task while an endpoint of its key is being deleted, as if the endpoint were gone', async () => {
  const { api, endpoint, all } = await tenant();
  await database.query('begin');
  await database.query('delete from webhook_endpoints where id = $1', [endpoint.id]);
  const ended = async () => api.untilFinal((await api.create(aCat)).body.task_id);
  expect(await ended().finally(() => database.query('commit'))).toMatchObject({ status: 'succeeded' });
  expect(await all('true')).toBe(0);
});

it('deletes events and their log with the retention of their tasks', async () => {
  const { api, hooks, endpoint } = await tenant();
  await api.create(aFailure);
  await hooks.ended(endpoint.id, 1);
  const eventId = (await hooks.deliveries(endpoint.id)).data[0]!.event_id;
  await database.query(`update webhook_events set expires_at = now() - interval '1 second' where id = $1`, [eventId]);
  expect((await hooks.redeliver(eventId)).status).toBe(404);
  await eventually('the log to be purged', async () => (await hooks.deliveries(endpoint.id)).data.length === 0);
});

it('records the other attempts of a batch when the event of one was deleted before its answer', async () => {
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
  const { hooks, endpoint } = await tenant();
  const { secret } = (await hooks.rotate(endpoint.id, { keep_old_secret_for_hours: 1 })).body;
  const { rows } = await database.query('select * from webhook_endpoints where id = $1', [endpoint.id]);
  const stored = Object.values(rows[0]).map((value) =>
    Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
  );
  for (const known of [secret as string, endpoint.secret]) {
    const bytes = Buffer.from(known.slice(6), 'base64').toString('latin1');
    for (const value of stored) expect(value.includes(known.slice(6)) || value.includes(bytes)).toBe(false);
  }
});
