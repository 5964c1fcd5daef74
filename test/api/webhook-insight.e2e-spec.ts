import { jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sql } from '../../src/platform/database/sql.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { aCat, aFailure, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { type DeliveryBody, WebhookClient } from '../support/clients/webhook-client.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

interface Listed {
  webhookDeliveries: { edges: { node: { id: string; taskId: string } }[] };
}

describe('what a client can find out about its webhooks', () => {
  let service: InProcess;
  let graphql: GraphqlClient;
  let hooks: WebhookClient;
  let good: Receiver;
  let bad: Receiver;
  let goodId: string;
  let badId: string;
  let made: TaskBody;
  let refused: TaskBody;

  beforeAll(async () => {
    service = await startInProcess({ WEBHOOK_RETRY_SCHEDULE: '3600' });
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
    hooks = new WebhookClient(service.api);
    good = await Receiver.start();
    bad = await Receiver.start((_received, response) => void response.writeHead(500).end('no'));
    goodId = (await hooks.endpoint(good.url)).id;
    badId = (await hooks.endpoint(bad.url)).id;
    made = await service.api.untilFinal((await service.api.create(aCat)).body.task_id);
    await hooks.ended(badId, 1);
    refused = await service.api.untilFinal((await service.api.create(aFailure)).body.task_id);
    await hooks.ended(goodId, 2);
    await hooks.ended(badId, 2);
  });
  afterAll(async () => {
    await service.close();
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
    const { status, body } = await service.api.get<ErrorBody>(`/v1/webhook_endpoints/${badId}/deliveries?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });

  it('shows how an endpoint does', async () => {
    const stats = `stats { delivered failed waiting p50Ms lastAttemptedAt lastStatusCode }`;
    const { data } = await graphql.ask<Record<'good' | 'bad', { failingSince: number | null; stats: object }>>(
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
    const rest = await service.api.get<object>(`/v1/webhook_endpoints/${goodId}/stats?hours=1`);
    expect(rest.body).toMatchObject({ delivered: 2, last_status_code: 200 });
    expect((await service.api.get(`/v1/webhook_endpoints/${goodId}/stats?hours=0`)).status).toBe(400);
  });

  it('shows an event as it was sent, with its attempts, to its owner only', async () => {
    const id = (await listed(goodId, `task_id=${made.task_id}`))[0]!.event_id;
    const { body } = await service.api.get<{ body: string; task_id: string; deliveries: DeliveryBody[] }>(
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
    const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    expect((await new Api(service.baseUrl, other.body.key).get(`/v1/webhook_events/${id}`)).status).toBe(404);
  });

  it('sends attempts to subscribers as they end, and nothing of other endpoints or keys', async () => {
    const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
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
    await sleep(700); // a poll, after which what was sent before is old
    for (const id of [goodId, badId]) await service.api.call('POST', `/v1/webhook_endpoints/${id}/test`);
    await eventually('both attempts', async () => ofAll.events.length === 2);
    expect(ofAll.data.map(({ webhookDelivered }) => webhookDelivered.endpointId).sort()).toEqual(
      [goodId, badId].sort(),
    );
    expect(ofGood.data).toEqual([
      { webhookDelivered: { endpointId: goodId, eventType: 'WEBHOOK_TEST', statusCode: 200 } },
    ]);
    expect(ofStranger.events).toEqual([]);
    await Promise.all([graphql.close(), stranger.close()]);
  });

  it('reads the attempts of many tasks, and the numbers of many endpoints, with one statement each', async () => {
    const run = jest.spyOn(service.app.get(Sql), 'run');
    await graphql.ask(
      '{ tasks(first: 10) { edges { node { webhookDeliveries { id } } } } webhookEndpoints { stats { failed } } }',
    );
    const names = run.mock.calls.map(([{ name }]) => name).filter((name) => /stats|of_task/.test(name));
    run.mockRestore();
    expect(names.toSorted()).toEqual(['webhooks.endpoint_stats', 'webhooks.list_of_tasks']);
  });

  it('leads from a task to its attempts, for a key that may see them', async () => {
    const document = `{ task(taskId: "${made.task_id}") { webhookDeliveries { endpointId } } }`;
    const { data } = await graphql.ask<{ task: { webhookDeliveries: { endpointId: string }[] } }>(document);
    expect(data.task.webhookDeliveries.map(({ endpointId }) => endpointId).sort()).toEqual([goodId, badId].sort());
    // The scope of a key can be taken from it, so the same key asks again without.
    await service.api.call('PATCH', `/v1/api_keys/${await ownId()}`, { scopes: ['tasks:read', 'keys:manage'] });
    await eventually('the scope to be gone', async () => {
      const answer = await graphql.ask<{ task: { webhookDeliveries: object[] | null } }>(document);
      return answer.errors === undefined && answer.data.task.webhookDeliveries === null;
    });
  });

  const ownId = async () => (await graphql.ask<{ viewer: { id: string } }>('{ viewer { id } }')).data.viewer.id;
});

describe('redelivery to one endpoint', () => {
  it('leaves the others alone', async () => {
    const service = await startInProcess();
    const hooks = new WebhookClient(service.api);
    const receivers = await Promise.all([Receiver.start(), Receiver.start()]);
    const ids = [];
    for (const { url } of receivers) ids.push((await hooks.endpoint(url)).id);
    await service.api.create(aFailure);
    for (const id of ids) await hooks.ended(id, 1);
    const eventId = receivers[0]!.received[0]!.event.id;
    const path = `/v1/webhook_events/${eventId}/redeliver?endpoint_id=`;
    expect((await service.api.call('POST', path + ids[1])).body).toMatchObject({ id: eventId, endpoints: 1 });
    await hooks.ended(ids[1]!, 2);
    expect(receivers.map(({ received }) => received.length)).toEqual([1, 2]);
    const unknown = await service.api.call<ErrorBody>('POST', `${path}we_${'0'.repeat(26)}`);
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'webhook_endpoint_not_found']);
    await service.close();
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  });
});
