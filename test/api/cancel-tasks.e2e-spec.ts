import { aFailure, aHang, Api, type ErrorBody, aCat } from '../support/clients/api.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { Receiver } from '../support/servers/receiver.ts';

interface Counts {
  cancelled: number;
  already_final: number;
  not_found: number;
}

const UNKNOWN = 'task_01jd8e5t9kf3qs7m2v4xw6yzab';

describe('cancelling many tasks', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
  });
  afterAll(async () => {
    await graphql?.close();
    await service?.close();
  });

  const cancel = <Body = Counts>(body: unknown, api = service.api) => api.call<Body>('POST', '/v1/tasks/cancel', body);
  const made = async (body: object = aHang, api = service.api) => (await api.create(body)).body.task_id;
  const statusOf = async (id: string, api = service.api) => (await api.get(`/v1/tasks/${id}`)).body.status;

  it('by ids counts what became of each, and leaves the tasks of other keys alone', async () => {
    const other = new Api(service.baseUrl, (await anotherKey(service.api)).key);
    const foreign = await made(aHang, other);
    const running = await made();
    await service.api.until(running, 'running');
    const final = await made(aFailure);
    await service.api.untilFinal(final);
    const { status, body } = await cancel({ ids: [running, final, foreign, UNKNOWN, 'nonsense', running] });
    expect([status, body]).toEqual([200, { cancelled: 1, already_final: 2, not_found: 3 }]);
    expect((await service.api.get(`/v1/tasks/${running}`)).body.error?.code).toBe('task_cancelled');
    expect(['queued', 'running']).toContain(await statusOf(foreign, other));
    await other.cancel(foreign);
  });

  it('by a filter cancels exactly what the list with this filter shows unfinished', async () => {
    const wanted = await Promise.all([1, 2, 3].map(() => made({ ...aHang, metadata: { run: 'a', step: '1' } })));
    const otherRun = await made({ ...aHang, metadata: { run: 'b' } });
    const film = await made({ model: 'sora-2', prompt: '#hang', metadata: { run: 'a' } });
    const filter = { kind: 'image', metadata: { run: 'a' } };
    expect((await cancel({ filter })).body).toEqual({ cancelled: 3, already_final: 0, not_found: 0 });
    for (const id of wanted) expect(await statusOf(id)).toBe('failed');
    for (const id of [otherRun, film]) expect(['queued', 'running']).toContain(await statusOf(id));
    expect((await cancel({ filter })).body.cancelled).toBe(0);
    expect((await cancel({ filter: { status: 'failed' } })).body).toEqual({ cancelled: 0, already_final: 0, not_found: 0 }); // prettier-ignore
    expect((await cancel({ filter: { created_after: 0 } })).body.cancelled).toBe(2);
  });

  it('answers in GraphQL for each task', async () => {
    const [first, second] = [await made(), await made()];
    const selection = '{ taskId outcome }';
    const byIds = await graphql.ask(`mutation ($ids: [String!]!) { cancelTasks(taskIds: $ids) ${selection} }`, {
      ids: [first, UNKNOWN, first],
    });
    expect(byIds.data).toEqual({
      cancelTasks: [
        { taskId: first, outcome: 'CANCELLED' },
        { taskId: UNKNOWN, outcome: 'NOT_FOUND' },
        { taskId: first, outcome: 'ALREADY_FINAL' },
      ],
    });
    const byFilter = await graphql.ask(`mutation { cancelTasks(filter: { model: "gpt-image-2" }) ${selection} }`);
    expect(byFilter.data).toEqual({ cancelTasks: [{ taskId: second, outcome: 'CANCELLED' }] });
  });

  it('sends the event and the webhook of each task', async () => {
    const receiver = await Receiver.start();
    try {
      await new WebhookClient(service.api).endpoint(receiver.url);
      const ids = await Promise.all(Array.from({ length: 12 }, () => made()));
      const stream = await EventReader.open(service.baseUrl, `/v1/tasks/${ids[0]}/events`, service.api.key!);
      expect((await cancel({ ids })).body.cancelled).toBe(12);
      await stream.ended;
      expect(stream.events.at(-1)?.data).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
      const sent = (await receiver.until(ids.length)).map(({ event }) => event.data);
      expect(sent.map(({ task_id: id }) => id).toSorted()).toEqual(ids.toSorted());
      for (const data of sent) expect(data).toMatchObject({ status: 'failed', priority: 'normal' });
    } finally {
      await receiver.stop();
    }
  });

  it.each([
    [{}, 'missing_required_parameter', 'ids'],
    [{ ids: ['x'], filter: { status: 'queued' } }, 'invalid_value', 'filter'],
    [{ ids: [] }, 'invalid_value', 'ids'],
    [{ ids: Array.from({ length: 101 }, () => 'x') }, 'too_many_items', 'ids'],
    [{ ids: 'x' }, 'invalid_type', 'ids'],
    [{ ids: [UNKNOWN, 7] }, 'invalid_type', 'ids[1]'],
    [{ ids: null }, 'invalid_type', 'ids'],
    [{ filter: {} }, 'invalid_value', 'filter'],
    [{ filter: { metadata: {} } }, 'invalid_value', 'filter'],
    [{ filter: null }, 'invalid_type', 'filter'],
    [{ filter: { status: null } }, 'invalid_type', 'filter.status'],
    [{ filter: { status: 'done' } }, 'invalid_value', 'filter.status'],
    [{ filter: { created_after: '5' } }, 'invalid_type', 'filter.created_after'],
    [{ filter: { created_after: 1.5 } }, 'invalid_type', 'filter.created_after'],
    [{ filter: { metadata: { a: 1 } } }, 'invalid_type', 'filter.metadata'],
    [{ filter: { limit: 5 } }, 'unknown_parameter', 'filter.limit'],
    [{ filter: { __proto__x: 5 } }, 'unknown_parameter', 'filter.__proto__x'],
    [{ task_ids: ['x'] }, 'unknown_parameter', 'task_ids'],
  ])('refuses %j and cancels nothing', async (body, code, param) => {
    const id = await made();
    const answer = await cancel<ErrorBody>(body);
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([400, code, param]);
    expect(['queued', 'running']).toContain(await statusOf(id));
    await service.api.cancel(id);
  });

  it.each([
    ['', 'missing_required_parameter', 'taskIds'],
    ['(taskIds: null)', 'missing_required_parameter', 'taskIds'],
    ['(taskIds: [])', 'invalid_value', 'taskIds'],
    ['(taskIds: ["a"], filter: { status: QUEUED })', 'invalid_value', 'filter'],
    ['(filter: {})', 'invalid_value', 'filter'],
    ['(filter: { status: null })', 'invalid_value', 'filter'],
  ])('refuses cancelTasks%s in GraphQL', async (given, code, param) => {
    const { errors } = await graphql.ask(`mutation { cancelTasks${given} { outcome } }`);
    expect(errors?.[0]?.extensions).toMatchObject({ code, param });
  });

  it('races the ends of 100 tasks: the counts are right, and each task has one final state', async () => {
    const prompts = Array.from({ length: 100 }, (_, at) => `#fail:provider_timeout #delay:${(at % 25) / 50}`);
    const ids = await Promise.all(prompts.map((prompt) => made({ model: 'gpt-image-2', prompt })));
    const answers = await Promise.all([cancel({ ids }), cancel({ ids })]);
    const [cancelled, final] = (['cancelled', 'already_final'] as const).map((name) =>
      answers.reduce((sum, { body }) => sum + body[name], 0),
    );
    expect([cancelled! + final!, answers[0]!.body.not_found]).toEqual([200, 0]);
    const ends = await Promise.all(ids.map((id) => service.api.untilFinal(id)));
    expect(ends.filter(({ error }) => error?.code === 'task_cancelled')).toHaveLength(cancelled!);
  });

  it('of more than one request takes cancels the 1,000 oldest, and the next request the rest', async () => {
    const { id: keyId, key } = await anotherKey(service.api, { limits: { max_running: 1 } });
    const api = new Api(service.baseUrl, key);
    await api.until(await made(aHang, api), 'running'); // no other task of the key starts
    const id = await made(aHang, api);
    const query = <Row>(statement: string, values: unknown[]) =>
      queryOnce<Row>(service.database.url, statement, values);
    await query(
      `insert into tasks_live select (jsonb_populate_record(t, jsonb_build_object('id', left(t.id, 27) || lpad(n::text, 4, '0')))).*
       from tasks_live t, generate_series(1, 1022) n where id = $1`,
      [id],
    );
    await query('update key_load set queued = queued + 1022 where api_key_id = $1', [keyId]);
    const cancelQueued = async () => (await cancel({ filter: { status: 'queued' } }, api)).body;
    expect(await cancelQueued()).toEqual({ cancelled: 1000, already_final: 0, not_found: 0 });
    const oldest = await query<{ oldest: boolean }>(
      `select min(id) filter (where status = 'queued') > max(id) filter (where status = 'failed') as oldest
       from tasks where api_key_id = $1`,
      [keyId],
    );
    expect(oldest).toEqual([{ oldest: true }]);
    expect(await cancelQueued()).toEqual({ cancelled: 23, already_final: 0, not_found: 0 });
    expect(await cancelQueued()).toEqual({ cancelled: 0, already_final: 0, not_found: 0 });
    const counters = await query('select queued, running from key_load where api_key_id = $1', [keyId]);
    expect(counters).toEqual([{ queued: 0, running: 1 }]);
    await cancel({ filter: { status: 'running' } }, api);
  });
});

describe('POST /v1/tasks/{task_id}/cancel', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  it('ends a running task: failed, task_cancelled, progress 0, completed_at set', async () => {
    const { body } = await service.api.create(aHang);
    await service.api.until(body.task_id, 'running');
    const { status, headers, body: cancelled } = await service.api.cancel(body.task_id);
    expect(status).toBe(200);
    expect(headers.get('cancel-outcome')).toBe('cancelled');
    expect(cancelled).toMatchObject({
      status: 'failed',
      progress: 0,
      error: { code: 'task_cancelled', retryable: false },
    });
    expect(cancelled.completed_at).toBeGreaterThan(0);
    expect((await service.api.get(`/v1/tasks/${body.task_id}`)).body).toEqual(cancelled);
  });

  it('leaves a finished task as it is', async () => {
    const { body } = await service.api.create(aFailure, { prefer: 'wait=30' });
    const { status, headers, body: same } = await service.api.cancel(body.task_id);
    expect(status).toBe(200);
    expect(headers.get('cancel-outcome')).toBe('already_final');
    expect(same).toEqual(body);
  });

  it('frees the worker: the next task does not wait for a video of minutes', async () => {
    const { body } = await service.api.create({
      model: 'sora-2',
      prompt: 'A storm at sea',
      resolution: '4K',
      duration: 20,
    });
    await service.api.until(body.task_id, 'running');
    await service.api.cancel(body.task_id);
    const next = await service.api.create(aCat, { prefer: 'wait=60' });
    expect(next.body.status).toBe('succeeded');
  });

  it('accepts an empty body and a JSON body, and refuses unknown ids', async () => {
    const { body } = await service.api.create(aHang);
    expect((await service.api.call('POST', `/v1/tasks/${body.task_id}/cancel`, {})).status).toBe(200);
    const unknown = await service.api.call<ErrorBody>('POST', '/v1/tasks/task_01jd8e5t9kf3qs7m2v4xw6yzab/cancel');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'task_not_found']);
  });

  it('races 100 cancels against finishes: each task has one final state, and keeps it', async () => {
    // Of ten tasks, one is cancelled after its end and one never ends, so both sides win some of the races.
    const [over, endless] = [0, 1];
    const prompts = Array.from({ length: 100 }, (_, at) =>
      at % 10 === endless ? '#hang' : `#fail:provider_timeout #delay:${(at % 20) / 100}`,
    );
    const made = await Promise.all(prompts.map((prompt) => service.api.create({ model: 'gpt-image-2', prompt })));
    const outcomes = await Promise.all(
      made.map(async ({ body }, at) => {
        if (at % 10 === over) await service.api.untilFinal(body.task_id);
        else for (let reads = at % 7; reads > 0; reads -= 1) await service.api.get(`/v1/tasks/${body.task_id}`);
        const { headers, body: answered } = await service.api.cancel(body.task_id);
        return { outcome: headers.get('cancel-outcome'), answered };
      }),
    );
    for (const { outcome, answered } of outcomes) {
      expect(answered.error?.code).toBe(outcome === 'cancelled' ? 'task_cancelled' : 'provider_timeout');
    }
    // It ends later than any of the others would have, so every late write has happened by now.
    const last = await service.api.create({ model: 'gpt-image-2', prompt: '#fail:provider_timeout #delay:0.5' });
    await service.api.untilFinal(last.body.task_id);
    for (const { answered } of outcomes) {
      const { body } = await service.api.get(`/v1/tasks/${answered.task_id}`);
      expect(body).toEqual(answered);
    }
    const won = outcomes.filter(({ outcome }) => outcome === 'cancelled').length;
    expect(won).toBeGreaterThanOrEqual(10);
    expect(won).toBeLessThanOrEqual(90);
  });
});
