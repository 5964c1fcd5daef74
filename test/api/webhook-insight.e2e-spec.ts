// Own settings: what has failed is not tried again for an hour, an attempt ends after a second, and the log keeps what receivers at
// loopback answer. Operators see all endpoints.
import { type OwnService, startOwnService } from '../support/service.ts';
import { aCat, aFailure, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { type DeliveryBody, WebhookClient } from '../support/clients/webhook-client.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { eventually } from '../support/wait.ts';

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService({
    WEBHOOK_RETRY_SCHEDULE: '3600',
    WEBHOOK_TIMEOUT_MS: '1000',
    WEBHOOK_KEEP_EXCEPTED_RESPONSES: 'true',
  });
});
afterAll(() => service.close());

interface Webhooks {
  endpoints: Record<string, number>;
  dispatches: Record<string, number>;
  oldest_due_s: number | null;
  attempts: { outcome: string; error: string | null; count: number }[];
  troubled: { id: string; host: string; undelivered: number; last_status_code: number; last_error: string }[];
}

// The first, because it counts what there is.
interface Hour {
  hour: number;
  accepted: number;
  refused: number;
}

describe('the webhooks of all keys', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start((received, response) => {
      response.writeHead(received.path === '/fine' ? 200 : 500).end();
    });
  });
  afterAll(() => receiver.stop());

  const webhooks = async () => (await service.api.get<Webhooks>('/v1/operations/webhooks')).body;

  it('show who fails, what waits, and how the attempts went', async () => {
    const { key, id: keyId } = await anotherKey(service.api);
    const owner = new Api(service.baseUrl, key);
    const create = (api: Api, url: string) => api.call<{ id: string }>('POST', '/v1/webhook_endpoints', { url });
    await create(service.api, new URL('/fine', receiver.url).href);
    const { body: broken } = await create(owner, new URL('/broken?token=hidden', receiver.url).href);
    expect((await webhooks()).endpoints).toEqual({ enabled: 2, failing: 0, disabled: 0 });
    for (const api of [service.api, owner]) await api.create(aFailure, { prefer: 'wait=30' });

    // Each number is read by a statement of its own, and the two endpoints get their events independently.
    const seen = await eventually('the failing endpoint, and the end of both attempts', async () => {
      const now = await webhooks();
      const { due, under_way } = now.dispatches;
      return now.troubled.length > 0 && now.endpoints.failing === 1 && due === 0 && under_way === 0 && now;
    });
    expect(seen).toMatchObject({
      object: 'operator_webhooks',
      endpoints: { enabled: 1, failing: 1, disabled: 0 },
      dispatches: { due: 0, waiting: 1, under_way: 0 },
      oldest_due_s: null,
      troubled: [
        {
          id: broken.id,
          api_key_id: keyId,
          host: new URL(receiver.url).host,
          status: 'enabled',
          disabled_reason: null,
          undelivered: 1,
          last_status_code: 500,
          last_error: 'http_status',
        },
      ],
    });
    expect(JSON.stringify(seen)).not.toContain('hidden');
    const counted = await eventually('the process to publish both attempts', async () => {
      const { attempts } = await webhooks();
      return attempts.length >= 2 && attempts;
    });
    expect(counted.map(({ error, count }) => [error, count]).toSorted()).toEqual(
      [
        [null, 1],
        ['http_status', 1],
      ].toSorted(),
    );

    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const { data } = await graphql.ask<{ operations: { webhooks: object } }>(
      '{ operations { webhooks { endpoints { failing } troubled { id lastError undelivered } attempts { outcome error count } } } }',
    );
    expect(data.operations.webhooks).toEqual({
      endpoints: { failing: 1 },
      troubled: [{ id: broken.id, lastError: 'HTTP_STATUS', undelivered: 1 }],
      attempts: counted,
    });
  });
});

interface Listed {
  webhookDeliveries: { edges: { node: { id: string; taskId: string } }[] };
}

describe('what a client can find out about its webhooks', () => {
  let api: Api;
  let keyId: string;
  let graphql: GraphqlClient;
  let hooks: WebhookClient;
  let good: Receiver;
  let bad: Receiver;
  let goodId: string;
  let badId: string;
  let made: TaskBody;
  let refused: TaskBody;

  beforeAll(async () => {
    const scopes = [
      'generations:write',
      'tasks:read',
      'tasks:cancel',
      'webhooks:manage',
      'keys:manage',
      'operations:read',
    ];
    const own = await anotherKey(service.api, { scopes });
    [api, keyId] = [new Api(service.baseUrl, own.key), own.id];
    graphql = new GraphqlClient(service.baseUrl, api.key);
    hooks = new WebhookClient(api);
    good = await Receiver.start();
    bad = await Receiver.start((_received, response) => void response.writeHead(500).end('no'));
    goodId = (await hooks.endpoint(good.url)).id;
    badId = (await hooks.endpoint(bad.url)).id;
    made = await api.untilFinal((await api.create(aCat)).body.task_id);
    await hooks.ended(badId, 1);
    refused = await api.untilFinal((await api.create(aFailure)).body.task_id);
    await hooks.ended(goodId, 2);
    await hooks.ended(badId, 2);
  });
  afterAll(async () => {
    await Promise.all([good.stop(), bad.stop()]);
  });

  const tasks = (deliveries: { task_id?: unknown }[]) => deliveries.map(({ task_id }) => task_id);
  const listed = async (id: string, query: string) => {
    const { data } = await hooks.deliveries(id, `?${query}`);
    return data as (DeliveryBody & { task_id: string; endpoint_id: string })[];
  };

  it('an attempt names its endpoint and its task', async () => {
    const attempts = await listed(goodId, 'limit=10');
    expect(tasks(attempts)).toEqual([refused.task_id, made.task_id]);
    expect(new Set(attempts.map(({ endpoint_id }) => endpoint_id))).toEqual(new Set([goodId]));
  });

  it('shows the request of an attempt, without its signature', async () => {
    const [attempt] = await listed(goodId, `task_id=${made.task_id}`);
    const sent = good.received.find(({ event }) => event.id === attempt!.event_id)!;
    const { url, request_headers } = attempt as unknown as { url: string; request_headers: Record<string, string> };
    expect(url).toBe(good.url);
    expect(sent.headers).toMatchObject(request_headers);
    expect(Object.keys(request_headers).toSorted()).toEqual([
      'content-type',
      'user-agent',
      'webhook-id',
      'webhook-timestamp',
    ]);
  });

  it('filters the log, over REST and GraphQL alike', async () => {
    const [event] = (await listed(badId, `task_id=${made.task_id}`)).map(({ event_id }) => event_id);
    const all = [refused.task_id, made.task_id];
    for (const [id, query, filter, expected] of [
      [goodId, 'outcome=delivered', '{ outcome: DELIVERED }', all],
      [goodId, 'outcome=failed', '{ outcome: FAILED }', []],
      [badId, 'outcome=failed', '{ outcome: FAILED }', all],
      [badId, 'outcome=waiting', '{ outcome: WAITING }', all],
      [goodId, 'outcome=waiting', '{ outcome: WAITING }', []],
      [badId, 'event_type=task.failed', '{ eventType: TASK_FAILED }', [refused.task_id]],
      [badId, `task_id=${made.task_id}`, `{ taskId: "${made.task_id}" }`, [made.task_id]],
      [badId, `event_id=${event}`, `{ eventId: "${event}" }`, [made.task_id]],
      [badId, 'since=4000000000', '{ since: 4000000000 }', []],
      [badId, 'since=1&until=4000000000', '{ since: 1, until: 4000000000 }', all],
    ] as const) {
      expect([query, tasks(await listed(id, query))]).toEqual([query, expected]);
      const { data } = await graphql.ask<Listed>(
        `{ webhookDeliveries(endpointId: "${id}", filter: ${filter}) { edges { node { id taskId } } } }`,
      );
      expect([filter, data.webhookDeliveries.edges.map(({ node }) => node.taskId)]).toEqual([filter, expected]);
    }
  });

  it.each([
    ['outcome=lost', 'invalid_value', 'outcome'],
    ['task_id=x', 'invalid_value', 'task_id'],
    ['event_id=x', 'invalid_value', 'event_id'],
    ['since=-1', 'value_out_of_range', 'since'],
    ['state=failed', 'unknown_parameter', 'state'],
  ])('refuses %s', async (query, code, param) => {
    const { status, body } = await api.get<ErrorBody>(`/v1/webhook_endpoints/${badId}/deliveries?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });

  it('shows how an endpoint does', async () => {
    const stats = `stats { delivered failed waiting p50Ms lastAttemptedAt lastStatusCode hourly { hour accepted refused } }`;
    const { data } = await graphql.ask<
      Record<'good' | 'bad', { failingSince: number | null; stats: { hourly: Hour[] } }>
    >(
      `{ good: webhookEndpoint(id: "${goodId}") { failingSince ${stats} } bad: webhookEndpoint(id: "${badId}") { failingSince ${stats} } }`,
    );
    expect(data.good).toMatchObject({
      failingSince: null,
      stats: { delivered: 2, failed: 0, waiting: 0, p50Ms: expect.any(Number), lastStatusCode: 200 },
    });
    expect(data.bad).toMatchObject({
      failingSince: expect.any(Number),
      stats: { delivered: 0, failed: 0, waiting: 2, p50Ms: null, lastStatusCode: 500 },
    });
    const sumOf = (hours: Hour[], name: 'accepted' | 'refused') => hours.reduce((sum, each) => sum + each[name], 0);
    const { hourly } = data.good.stats;
    expect([sumOf(hourly, 'accepted'), sumOf(hourly, 'refused')]).toEqual([2, 0]);
    expect(sumOf(data.bad.stats.hourly, 'accepted')).toBe(0);
    expect(sumOf(data.bad.stats.hourly, 'refused')).toBeGreaterThanOrEqual(2);
    for (const { hour } of hourly) expect([hour % 3_600, hour <= Date.now() / 1_000]).toEqual([0, true]);
    const rest = await api.get<object>(`/v1/webhook_endpoints/${goodId}/stats?hours=1`);
    expect(rest.body).toMatchObject({ delivered: 2, last_status_code: 200, hourly });
    expect((await api.get(`/v1/webhook_endpoints/${goodId}/stats?hours=0`)).status).toBe(400);
  });

  it('shows an event as it was sent, with its attempts, to its owner only', async () => {
    const id = (await listed(goodId, `task_id=${made.task_id}`))[0]!.event_id;
    const { body } = await api.get<{ body: string; task_id: string; deliveries: DeliveryBody[] }>(
      `/v1/webhook_events/${id}`,
    );
    expect(body).toMatchObject({ id, object: 'event', type: 'task.completed', task_id: made.task_id });
    expect(body.body).toBe(good.received.find(({ event }) => event.id === id)!.body);
    expect(body.deliveries).toHaveLength(2);
    const { data } = await graphql.ask<{ webhookEvent: { body: string; deliveries: object[] } }>(
      `{ webhookEvent(id: "${id}") { body deliveries { id } } }`,
    );
    expect(data.webhookEvent).toEqual({
      body: body.body,
      deliveries: body.deliveries.map((each) => ({ id: each.id })),
    });
    const other = await api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    expect((await new Api(service.baseUrl, other.body.key).get(`/v1/webhook_events/${id}`)).status).toBe(404);
  });

  it('sends attempts to subscribers as they end, and nothing of other endpoints or keys', async () => {
    const other = await api.call<{ key: string }>('POST', '/v1/api_keys', {
      name: 'other',
      scopes: ['webhooks:manage'],
    });
    const stranger = new GraphqlClient(service.baseUrl, other.body.key);
    const document =
      'subscription ($id: String) { webhookDelivered(endpointId: $id) { endpointId eventType statusCode } }';
    type Sent = { webhookDelivered: { endpointId: string; eventType: string; statusCode: number } };
    const ofGood = graphql.follow<Sent>(document, { id: goodId });
    const ofAll = graphql.follow<Sent>(document, { id: null });
    const ofStranger = stranger.follow<Sent>(document, { id: null });
    const refused = stranger.follow<Sent>(document, { id: goodId });
    await refused.ended;
    expect(refused.events[0]?.errors?.[0]?.extensions.code).toBe('webhook_endpoint_not_found');
    // A subscription begins at some moment that its client cannot see, so tests are sent until it has one of them.
    await eventually('the first attempt', async () => {
      await hooks.test(goodId);
      return ofAll.events.length > 0 && ofGood.events.length > 0;
    });
    await hooks.test(badId);
    await eventually('the attempt at the other endpoint', async () =>
      ofAll.data.some(({ webhookDelivered }) => webhookDelivered.endpointId === badId),
    );
    expect(new Set(ofAll.data.map(({ webhookDelivered }) => webhookDelivered.endpointId))).toEqual(
      new Set([goodId, badId]),
    );
    for (const each of ofGood.data) {
      expect(each).toEqual({ webhookDelivered: { endpointId: goodId, eventType: 'WEBHOOK_TEST', statusCode: 200 } });
    }
    expect(ofStranger.events).toEqual([]);
    await Promise.all([graphql.close(), stranger.close()]);
  });

  it('reads the attempts of many tasks, and the numbers of many endpoints, with one statement each', async () => {
    const counts = async () => {
      const { text } = await api.get('/metrics');
      const lines = text.matchAll(/^db_client_operation_duration_seconds_count\{.*name="(\S+)"\} (\d+)$/gm);
      return new Map([...lines].map(([, name, count]) => [name!, Number(count)]));
    };
    const before = await counts();
    await graphql.ask(
      '{ tasks(first: 10) { edges { node { webhookDeliveries { id } } } } webhookEndpoints { stats { failed } } }',
    );
    const after = await counts();
    const run = [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)]);
    expect(run.filter(([name]) => /^webhooks.*(stats|of_task)/.test(String(name))).toSorted()).toEqual([
      ['webhooks.endpoint_stats', 1],
      ['webhooks.list_of_tasks', 1],
    ]);
  });

  it('leads from a task to its attempts, for a key that may see them', async () => {
    const document = `{ task(taskId: "${made.task_id}") { webhookDeliveries { endpointId } } }`;
    const { data } = await graphql.ask<{ task: { webhookDeliveries: { endpointId: string }[] } }>(document);
    expect(data.task.webhookDeliveries.map(({ endpointId }) => endpointId).sort()).toEqual([goodId, badId].sort());
    // The scope of a key can be taken from it, so the same key asks again without.
    await api.call('PATCH', `/v1/api_keys/${keyId}`, { scopes: ['tasks:read', 'keys:manage'] });
    await eventually('the scope to be gone', async () => {
      const answer = await graphql.ask<{ task: { webhookDeliveries: object[] | null } }>(document);
      return answer.errors === undefined && answer.data.task.webhookDeliveries === null;
    });
  });
});

describe('an endpoint', () => {
  let hooks: WebhookClient;
  let api: Api;
  const receivers: Receiver[] = [];
  beforeEach(async () => {
    api = new Api(service.baseUrl, (await anotherKey(service.api)).key);
    hooks = new WebhookClient(api);
  });
  afterAll(() => Promise.all(receivers.map((receiver) => receiver.stop())));

  const receiver = async (answer?: Receiver['answer']) => {
    const started = await Receiver.start(answer);
    receivers.push(started);
    return started;
  };

  it('gets a redelivery that leaves the others alone', async () => {
    const there = await Promise.all([receiver(), receiver()]);
    const ids: string[] = [];
    for (const { url } of there) ids.push((await hooks.endpoint(url)).id);
    await api.create(aFailure);
    for (const id of ids) await hooks.ended(id, 1);
    const eventId = there[0].received[0]!.event.id;
    const path = `/v1/webhook_events/${eventId}/redeliver?endpoint_id=`;
    expect((await api.call('POST', path + ids[1])).body).toMatchObject({ id: eventId, endpoints: 1 });
    await hooks.ended(ids[1]!, 2);
    expect(there.map(({ received }) => received.length)).toEqual([1, 2]);
    const unknown = await api.call<ErrorBody>('POST', `${path}we_${'0'.repeat(26)}`);
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'webhook_endpoint_not_found']);
  });

  it('that does not answer in time has failed', async () => {
    const { id } = await hooks.endpoint((await receiver(() => undefined)).url);
    await api.create(aFailure);
    expect((await hooks.ended(id, 1))[0]).toMatchObject({ status_code: null, error: 'timeout' });
  });

  it('whose body never ends is judged by its status, and its connection is closed', async () => {
    const there = await receiver((_received, response) => void response.writeHead(200).write('x'));
    const { id } = await hooks.endpoint(there.url);
    await api.create(aFailure);
    const [only] = await hooks.ended(id, 1);
    expect(only).toMatchObject({ status_code: 200, error: null, next_attempt_at: null });
    await eventually('the connection to be closed', async () => there.open === 0);
  });

  it('gets every failed event since a time, given up or not, and no other', async () => {
    const there = await receiver((_received, response) => void response.writeHead(500).end());
    const { id } = await hooks.endpoint(there.url);
    const made: string[] = [];
    for (let nth = 1; nth <= 3; nth += 1) {
      made.push((await api.create(aFailure)).body.task_id);
      await hooks.ended(id, nth);
    }
    const [old, givenUp] = there.ids;
    const change = (statement: string, eventId: unknown) => queryOnce(service.database.url, statement, [eventId]);
    await change(`update webhook_events set created_at = created_at - interval '1 hour' where id = $1`, old);
    for (const eventId of [old, givenUp]) {
      await change('update webhook_dispatches set due_at = null where event_id = $1', eventId);
    }
    there.answer = (_received, response) => void response.end();
    there.received.length = 0;
    const since = Math.floor(Date.now() / 1000) - 1800;
    expect((await hooks.recover(id, since)).body).toEqual({ events: 2 });
    await there.until(2);
    expect(there.received.map(({ event }) => event.data.task_id).toSorted()).toEqual(made.slice(1).toSorted());
    expect((await hooks.recover<ErrorBody>(id, 'yesterday')).body.error).toMatchObject({
      code: 'invalid_type',
      param: 'since',
    });
  });

  it('has what a receiver in its own network answers in its log, where the operator wants that', async () => {
    const there = await receiver((_received, response) => void response.writeHead(500).end('the database is away'));
    const { id } = await hooks.endpoint(there.url);
    await api.create(aFailure);
    expect((await hooks.ended(id, 1))[0]).toMatchObject({ response_snippet: 'the database is away' });
    there.answer = (_received, response) => void response.writeHead(204).end();
    await api.create(aFailure);
    expect((await hooks.ended(id, 2))[1]).toMatchObject({ status_code: 204, response_snippet: '' });
  });
});
