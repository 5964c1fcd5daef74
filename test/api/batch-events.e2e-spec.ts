import { aCat, aFailure, aHang } from '../support/clients/api.ts';
import { BatchClient, type BatchBody } from '../support/clients/batches.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { Receiver, verified } from '../support/servers/receiver.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const finalItems = ({ counts }: BatchBody): number =>
  counts.succeeded + counts.failed + counts.cancelled + counts.invalid;

describe('the events of a batch', () => {
  let service: OwnService;
  let batches: BatchClient;
  beforeAll(async () => {
    service = await startOwnService({ BATCH_MAX_ITEMS: '300' });
    batches = new BatchClient(service.api);
  });
  afterAll(() => service.close());

  const follow = (id: string, lastEventId?: string) =>
    EventReader.open(service.baseUrl, `/v1/batches/${id}/events`, service.api.key!, lastEventId ? { lastEventId } : {});
  const states = (reader: EventReader) => reader.events.map(({ data }) => data as unknown as BatchBody);

  it('begin with the current state, never fall, come at most four a second, and end with the final one', async () => {
    const slow = (nth: number) => ({ ...aFailure, prompt: `#delay:${nth / 20} #fail:internal_error` });
    const { id } = await batches.of(Array.from({ length: 40 }, (_, nth) => slow(nth)));
    const startedAt = performance.now();
    const reader = await follow(id);
    expect(reader.reply.headers.get('content-type')).toContain('text/event-stream');
    await reader.ended;
    const seconds = (performance.now() - startedAt) / 1000;
    const all = states(reader);
    expect(all[0]).toMatchObject({ id, object: 'batch', status: 'in_progress' });
    expect(all.at(-1)).toEqual(await batches.read(id));
    expect(all.at(-1)).toMatchObject({ status: 'completed', progress: 100 });
    expect(all.map(({ progress }) => progress)).toEqual(all.map(({ progress }) => progress).toSorted((a, b) => a - b));
    expect(all.map(finalItems)).toEqual(all.map(finalItems).toSorted((a, b) => a - b));
    expect(all.length).toBeGreaterThan(2);
    expect(all.length).toBeLessThanOrEqual(4 * seconds + 2);
    expect((await follow(id, reader.lastEventId)).reply.status).toBe(204);
    const again = await follow(id);
    await again.ended;
    expect(states(again)).toEqual([all.at(-1)]);
  });

  it('resume without the state that was received, and end when the batch is cancelled', async () => {
    const { id } = await batches.of([aHang, aHang]);
    const first = await follow(id);
    await first.until('both items to run', () => states(first).at(-1)?.counts.running === 2);
    first.close();
    const second = await follow(id, first.lastEventId);
    await second.until('the opening comment', () => second.comments.length > 0);
    await batches.cancel(id);
    await second.ended;
    expect(states(second).every(({ status }) => status !== 'in_progress')).toBe(true);
    expect(states(second).at(-1)).toMatchObject({ status: 'cancelled', counts: { cancelled: 2 } });
  });

  it('are the same over GraphQL, which creates, reads, lists and cancels batches too', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const CREATE = `mutation ($input: CreateBatchInput!, $key: String) {
      createBatch(input: $input, idempotencyKey: $key) { id status counts { queued invalid } errors { data { index code } } metadata }
    }`;
    const input = {
      requests: [
        { customId: 'x', body: { ...aHang, aspect_ratio: '16:9' } },
        { customId: null, body: {} },
      ],
      onInvalid: 'SKIP',
      taskEvents: false,
      metadata: { camelCase: 'kept' },
    };
    const { data, errors } = await graphql.ask<{ createBatch: BatchBody }>(CREATE, { input, key: 'gql' });
    expect(errors).toBeUndefined();
    const { id } = data.createBatch;
    expect(data.createBatch).toEqual({
      id,
      status: 'IN_PROGRESS',
      counts: { queued: 1, invalid: 1 },
      errors: { data: [{ index: 1, code: 'missing_required_parameter' }] },
      metadata: { camelCase: 'kept' },
    });
    const asRest = {
      requests: [{ custom_id: 'x', body: input.requests[0]!.body }, { body: {} }],
      on_invalid: 'skip',
      task_events: false,
      metadata: input.metadata,
    };
    const replay = await batches.create(asRest, { 'idempotency-key': 'gql' });
    expect([replay.body.id, replay.headers.get('idempotent-replayed')]).toEqual([id, 'true']);

    const refused = await graphql.ask(CREATE, { input: { ...input, onInvalid: 'REFUSE' } });
    expect(refused.errors?.[0]?.extensions).toMatchObject({
      code: 'batch_invalid',
      errors: [{ index: 1, code: 'missing_required_parameter', line: null, custom_id: null }],
    });

    const following = graphql.follow<{ batchUpdated: BatchBody }>(
      'subscription ($id: String!) { batchUpdated(id: $id) { id status progress counts { running cancelled } } }',
      { id },
    );
    await eventually('the item to run', async () => following.data.at(-1)?.batchUpdated.counts.running === 1);
    const TASKS = 'query ($id: String) { tasks(filter: { batchId: $id }) { edges { node { batch { id index customId } } } } }'; // prettier-ignore
    expect((await graphql.ask<object>(TASKS, { id })).data).toEqual({
      tasks: { edges: [{ node: { batch: { id, index: 0, customId: 'x' } } }] },
    });
    const cancelled = await graphql.ask<{ cancelBatch: BatchBody }>(
      'mutation ($id: String!) { cancelBatch(id: $id) { id } }',
      { id },
    );
    expect(cancelled.data.cancelBatch.id).toBe(id);
    await following.ended;
    expect(following.data.at(-1)?.batchUpdated).toEqual({
      id,
      status: 'CANCELLED',
      progress: 100,
      counts: { running: 0, cancelled: 1 },
    });
    const READ = `query ($id: String!) {
      batch(id: $id) { id usage { costMicros currency } }
      batches(first: 1, status: CANCELLED) { edges { cursor node { id } } pageInfo { hasNextPage } }
    }`;
    const read = await graphql.ask<object>(READ, { id });
    expect(read.data).toMatchObject({
      batch: { id, usage: { costMicros: 0, currency: 'USD' } },
      batches: { edges: [{ cursor: id, node: { id } }] },
    });
    const unknown = await graphql.ask('{ batch(id: "batch_x") { id } }');
    expect(unknown.errors?.[0]?.extensions.code).toBe('batch_not_found');
    await graphql.close();
  });

  describe('as webhooks', () => {
    let receiver: Receiver;
    let hooks: WebhookClient;
    beforeAll(async () => {
      receiver = await Receiver.start();
      hooks = new WebhookClient(service.api);
    });
    afterAll(() => receiver.stop());

    const typesOf = (path: string) =>
      receiver.received.filter((received) => received.path === path).map(({ event }) => event.type);

    it('say once that it is completed, to endpoints that name the event, and nothing of its items if so asked', async () => {
      const all = await hooks.endpoint(`${receiver.url}/all`);
      expect(all.events).toEqual(['task.completed', 'task.failed']);
      const named = await hooks.endpoint(`${receiver.url}/named`, { events: ['batch.completed', 'task.failed'] });
      const quiet = await batches.of([aFailure, aCat], { task_events: false, metadata: { a: 'b' } });
      const loud = await batches.of([aFailure, aFailure]);
      for (const { id } of [quiet, loud]) await batches.untilEnded(id);
      await eventually(
        'the webhooks',
        async () => typesOf('/hook/named').length >= 4 && typesOf('/hook/all').length >= 2,
      );
      await service.api.create(aFailure, { prefer: 'wait=30' });
      await eventually('the last webhook', async () => typesOf('/hook/all').length >= 3);
      expect(typesOf('/hook/all')).toEqual(Array.from({ length: 3 }, () => 'task.failed'));
      expect(typesOf('/hook/named').filter((type) => type === 'batch.completed')).toHaveLength(2);
      const webhook = receiver.received.find(({ event }) => event.data.id === quiet.id)!;
      expect(webhook.event).toMatchObject({ object: 'event', type: 'batch.completed' });
      expect(webhook.event.data).toEqual(await batches.read(quiet.id));
      expect(verified(webhook, named.secret).id).toBe(webhook.headers['webhook-id']);
      const before = receiver.received.length;
      expect((await hooks.redeliver(webhook.event.id)).body.endpoints).toBe(1);
      await receiver.until(before + 1);
      expect(receiver.received.at(-1)?.event.id).toBe(webhook.event.id);
    });

    it('say that it was cancelled, by the status', async () => {
      const { id } = await batches.of([aHang]);
      await batches.cancel(id);
      const { event } = await eventually('the webhook', async () =>
        receiver.received.find(({ event }) => event.data.id === id),
      );
      expect(event.data).toMatchObject({ object: 'batch', status: 'cancelled' });
    });
  });
});
