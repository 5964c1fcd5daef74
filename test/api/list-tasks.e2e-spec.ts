import { Client } from 'pg';
import { idBoundAt } from '../../src/platform/schema/time.ts';
import { joinSecondProcess, joinService, type SharedService } from '../support/service.ts';
import { aCat, aFailure, aHang, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { eventually } from '../support/wait.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { EventReader } from '../support/clients/event-reader.ts';

interface Page {
  object: string;
  data: TaskBody[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

describe('GET /v1/tasks', () => {
  let service: SharedService;
  const made: string[] = [];
  beforeAll(async () => {
    service = await joinService();
    for (let at = 0; at < 5; at += 1) {
      const metadata: Record<string, string> =
        at === 2 ? { order: '42', colour: 'red', constructor: 'yes' } : { order: String(at) };
      made.unshift((await service.api.create({ ...aFailure, metadata })).body.task_id);
    }
    for (const id of made) await service.api.untilFinal(id);
  });
  afterAll(() => service.close());

  const list = async (query: string) => (await service.api.get<Page>(`/v1/tasks?${query}`)).body;

  it('combines all filters, for every status', async () => {
    const all = `after=${made[0]}&kind=image&model=gpt-image-2&created_after=1&created_before=9999999999&metadata[order]=1`;
    for (let round = 0; round < 12; round += 1) {
      expect((await list(`${all}&status=failed`)).data.map((task) => task.task_id)).toEqual([made[3]]);
      for (const status of ['queued', 'running', 'succeeded']) {
        expect((await list(`${all}&status=${status}`)).data).toEqual([]);
      }
    }
  });

  it('returns the newest first, in pages without gap or overlap', async () => {
    const first = await list('limit=2');
    expect(first).toMatchObject({ object: 'list', has_more: true, first_id: made[0], last_id: made[1] });
    const second = await list(`limit=3&after=${first.last_id}`);
    expect(second.data.map((task) => task.task_id)).toEqual(made.slice(2));
    expect(second.has_more).toBe(false);
    expect(await list(`after=${second.last_id}`)).toMatchObject({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
  });

  it.each(['desc', 'asc'])(
    'reads a page again after tasks of it were deleted and others made, order %s',
    async (order) => {
      const { key } = await anotherKey(service.api);
      const tenant = new Api(service.baseUrl, key);
      const ids: string[] = [];
      const make = async () => ids.push((await tenant.create(aFailure, { prefer: 'wait=20' })).body.task_id);
      const remove = async (at: number) => {
        const [id] = ids.splice(at, 1);
        expect((await tenant.call('DELETE', `/v1/tasks/${id}`)).status).toBe(200);
      };
      const pages = async () => {
        const wanted = order === 'asc' ? ids : ids.toReversed();
        for (const filter of ['', '&status=failed']) {
          const { body } = await tenant.get<Page>(`/v1/tasks?limit=2&order=${order}${filter}`);
          expect(body.data.map((task) => task.task_id)).toEqual(wanted.slice(0, 2));
          expect(body.has_more).toBe(ids.length > 2);
        }
      };
      for (let count = 0; count < 5; count += 1) await make();
      for (const change of [
        make,
        () => remove(0),
        () => remove(ids.length - 1),
        () => remove(1),
        make,
        () => remove(1),
      ]) {
        await pages();
        await change();
      }
      await remove(0);
      await pages();
    },
  );

  it('returns each task as GET does, from memory and from the database, and without the file that was just deleted', async () => {
    const { key } = await anotherKey(service.api);
    const tenant = new Api(service.baseUrl, key);
    const elsewhere = new Api(await joinSecondProcess(service), key);
    const ended = (await tenant.create(aCat, { prefer: 'wait=60' })).body;
    const waiting = (await tenant.create(aHang)).body;
    await tenant.until(waiting.task_id, 'running');
    const ids = [waiting.task_id, ended.task_id];
    for (const read of [tenant, elsewhere, tenant, elsewhere]) {
      const { data } = (await read.get<Page>('/v1/tasks')).body;
      expect(data).toEqual(
        await Promise.all(ids.map(async (id) => (await read.get<TaskBody>(`/v1/tasks/${id}`)).body)),
      );
    }
    const { id: fileId, url } = ended.result!.outputs[0]!;
    expect(url).toEqual(expect.any(String));
    expect((await tenant.call('DELETE', `/v1/files/${fileId}`)).status).toBe(200);
    const urlIn = async (api: Api) => (await api.get<Page>('/v1/tasks')).body.data[1]!.result!.outputs[0]!.url;
    expect(await urlIn(tenant)).toBeNull();
    await eventually('the other process', async () => (await urlIn(elsewhere)) === null);
  });

  it('is never older than a GET before it, in each process, from the creation to the deletion', async () => {
    const { key } = await anotherKey(service.api);
    const tenant = new Api(service.baseUrl, key);
    const elsewhere = new Api(await joinSecondProcess(service), key);
    const film = (await tenant.create({ model: 'seedance-2', prompt: 'A river', duration: 10 })).body.task_id;
    const hang = (await tenant.create(aHang)).body.task_id;
    const seen = new Set<string>();
    const sequenceOf = async (id: string) =>
      Number(/\d+/.exec((await tenant.get(`/v1/tasks/${id}`)).headers.get('etag')!)![0]);
    const listIsNew = async () => {
      const before = [await sequenceOf(hang), await sequenceOf(film)];
      for (const api of [tenant, elsewhere]) {
        const { data } = (await api.get<Page>('/v1/tasks')).body;
        expect(data.map(({ task_id }) => task_id)).toEqual([hang, film]);
        const alone = await Promise.all(data.map(({ task_id }) => api.get<TaskBody>(`/v1/tasks/${task_id}`)));
        for (const [at, task] of data.entries()) {
          seen.add(`${task.status} ${task.progress}`);
          const { headers, body } = alone[at]!;
          const isSame = Number(/\d+/.exec(headers.get('etag')!)![0]) === before[at];
          if (isSame) expect(task).toEqual(body); // it has not changed since, so the list shows just this
        }
      }
    };
    await eventually('the end of the film', async () => {
      await listIsNew();
      return (await tenant.get<TaskBody>(`/v1/tasks/${film}`)).body.status === 'succeeded';
    });
    expect(seen.size).toBeGreaterThan(3);
    await listIsNew();
    await tenant.cancel(hang);
    await listIsNew();
    expect((await elsewhere.get<Page>('/v1/tasks')).body.data.map(({ status }) => status)).toEqual(['failed', 'succeeded']); // prettier-ignore
    for (const id of [hang, film]) {
      expect((await tenant.call('DELETE', `/v1/tasks/${id}`)).status).toBe(200);
      for (const api of [elsewhere, tenant]) {
        const { data } = (await api.get<Page>('/v1/tasks')).body;
        expect(data.map(({ task_id }) => task_id)).toEqual(id === hang ? [film] : []);
      }
    }
  });

  it('filters by status, kind, model, time and metadata', async () => {
    expect((await list('status=failed&kind=image&model=gpt-image-2')).data).toHaveLength(5);
    expect((await list('status=succeeded')).data).toHaveLength(0);
    expect((await list('kind=video')).data).toHaveLength(0);
    expect((await list(`created_after=${Math.floor(Date.now() / 1000) + 60}`)).data).toHaveLength(0);
    expect((await list(`created_before=${Math.floor(Date.now() / 1000) + 60}`)).data).toHaveLength(5);
    expect((await list('metadata[order]=42&metadata[colour]=red')).data.map((task) => task.task_id)).toEqual([made[2]]);
    expect((await list('metadata[order]=42&metadata[colour]=blue')).data).toHaveLength(0);
    expect((await list('metadata[__proto__]=42')).data).toHaveLength(0);
    expect((await list('metadata[constructor]=yes')).data.map((task) => task.task_id)).toEqual([made[2]]);
  });

  it('filters by creation between two times, both exclusive', async () => {
    const start = Math.floor(Date.now() / 1000) - 30 * 86_400;
    const times = [0, 1, 100, 3600, 86_400].map((afterS) => start + afterS);
    const client = new Client({ connectionString: service.database.url });
    await client.connect();
    for (const at of times) {
      await client.query(
        `insert into tasks_done select (jsonb_populate_record(t, $2)).* from tasks_done t where id = $1`,
        [made[0], { id: `${idBoundAt(at * 1000)}${'0'.repeat(16)}`, created_at: new Date(at * 1000 + 1) }],
      );
    }
    await client.end();
    const created = async (query: string) => (await list(`${query}&limit=100`)).data.map((task) => task.created_at);
    const [first, second, third, fourth, fifth] = times as [number, number, number, number, number];
    expect(await created(`created_before=${fifth}`)).toEqual([fourth, third, second, first]);
    expect(await created(`created_after=${third + 1}&created_before=${fifth + 1}`)).toEqual([fifth, fourth]);
    expect(await created(`created_after=${first + 1}&created_before=${fourth}`)).toEqual([third, second]);
    expect(await created(`created_after=${fifth + 1}`)).toHaveLength(5);
    expect(await created(`created_after=${fifth + 1}&created_before=${fifth + 100}`)).toEqual([]);
  });

  it.each([
    ['limit=0', 'value_out_of_range', 'limit'],
    ['limit=101', 'value_out_of_range', 'limit'],
    ['limit=ten', 'invalid_type', 'limit'],
    ['limit=1&limit=2', 'invalid_type', 'limit'],
    ['status=done', 'invalid_value', 'status'],
    ['kind=audio', 'invalid_value', 'kind'],
    ['after=abc', 'invalid_value', 'after'],
    ['sort=asc', 'unknown_parameter', 'sort'],
    ['created_after=-1', 'value_out_of_range', 'created_after'],
    ['created_before=253402300800', 'value_out_of_range', 'created_before'],
    ['created_before=1.5', 'invalid_type', 'created_before'],
    ['status=failed&status=queued', 'invalid_type', 'status'],
    ['model=a&model=b', 'invalid_type', 'model'],
    ['model=%00', 'invalid_unicode', 'model'],
    ['metadata=a', 'unknown_parameter', 'metadata'],
    ['metadata[a]=1&metadata[a]=2', 'invalid_type', 'metadata[a]'],
    ['metadata[a]=%00', 'invalid_unicode', 'metadata[a]'],
    ['metadata[]=a', 'unknown_parameter', 'metadata[]'],
    ['model[a]=b', 'unknown_parameter', 'model[a]'],
  ])('refuses %s', async (query, code, param) => {
    const { status, body } = await service.api.get<ErrorBody>(`/v1/tasks?${query}`);
    expect({ status, code: body.error.code, param: body.error.param }).toEqual({ status: 400, code, param });
  });

  it("never shows another key's tasks", async () => {
    const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    const reply = await fetch(`${service.baseUrl}/v1/tasks`, {
      headers: { authorization: `Bearer ${other.body.key}` },
    });
    expect(((await reply.json()) as Page).data).toEqual([]);
  });

  it('lists concurrent creates by creation time', async () => {
    const burst = await Promise.all(Array.from({ length: 30 }, () => service.api.create(aCat)));
    expect(new Set(burst.map(({ body }) => body.task_id)).size).toBe(30);
    const { data } = await list('limit=30');
    expect(data.map((task) => task.task_id).sort()).toEqual(burst.map(({ body }) => body.task_id).sort());
    expect(data.map((task) => task.created_at)).toEqual(data.map((task) => task.created_at).toSorted((a, b) => b - a));
    await Promise.all(burst.map(({ body }) => service.api.cancel(body.task_id)));
  });
});

describe('GET /v1/tasks/{task_id}', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  it('shows a succeeded task with its outputs, which work without the API key', async () => {
    const { body } = await service.api.create(
      { ...aCat, n: 2, resolution: '1K', aspect_ratio: '16:9' },
      { prefer: 'wait=30' },
    );
    expect(body).toMatchObject({ status: 'succeeded', progress: 100 });
    expect(body.error).toBeUndefined();
    const [first, second] = body.result?.outputs ?? [];
    expect(first).toMatchObject({ index: 0, type: 'image', content_type: 'image/png', width: 1536, height: 864 });
    expect(first?.duration).toBeUndefined();
    expect(second?.sha256).not.toBe(first?.sha256);
    const bytes = await (await fetch(first?.url as string)).arrayBuffer();
    expect(bytes.byteLength).toBe(first?.size_bytes);
  });

  it('shows why a task failed, and no result', async () => {
    const { body } = await service.api.create(aFailure, { prefer: 'wait=30' });
    expect(body).toMatchObject({ status: 'failed', error: { code: 'content_policy_violation', retryable: false } });
    expect(body.result).toBeUndefined();
    expect(body.completed_at).toBeGreaterThan(0);
  });

  it('sends a poll interval with an unfinished task only', async () => {
    const { body } = await service.api.create(aHang);
    expect((await service.api.get(`/v1/tasks/${body.task_id}`)).headers.get('retry-after')).toBe('2');
    await service.api.cancel(body.task_id);
    expect((await service.api.get(`/v1/tasks/${body.task_id}`)).headers.get('retry-after')).toBeNull();
  });

  it('answers 304 to its own ETag until something changes', async () => {
    const { body } = await service.api.create(aHang);
    await service.api.until(body.task_id, 'running');
    const path = `/v1/tasks/${body.task_id}`;
    const etag = (await service.api.get(path)).headers.get('etag') as string;
    expect((await service.api.get(path, { 'if-none-match': etag })).status).toBe(304);
    await service.api.cancel(body.task_id);
    const changed = await service.api.get(path, { 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(changed.body.status).toBe('failed');
  });

  it('with wait answers at the end of the task', async () => {
    const { body } = await service.api.create({ ...aCat, prompt: 'A cat #delay:0.7' });
    const startedAt = Date.now();
    const ended = await service.api.get(`/v1/tasks/${body.task_id}?wait=60`);
    expect(ended.body.status).toBe('succeeded');
    expect(Date.now() - startedAt).toBeLessThan(50_000); // not at the end of the wait
  });

  it('with wait and If-None-Match answers at the first change', async () => {
    const { body } = await service.api.create(aHang);
    await service.api.until(body.task_id, 'running');
    const path = `/v1/tasks/${body.task_id}`;
    const etag = (await service.api.get(path)).headers.get('etag') as string;
    const waiting = service.api.get(`${path}?wait=20`, { 'if-none-match': etag });
    await service.api.cancel(body.task_id);
    expect((await waiting).body.status).toBe('failed');
  });

  it.each(['61', '-1', 'soon', '1.5'])('refuses wait=%s', async (wait) => {
    const { body } = await service.api.create(aFailure);
    expect((await service.api.get(`/v1/tasks/${body.task_id}?wait=${wait}`)).status).toBe(400);
  });

  it('gives the same answer for an unknown, a malformed and a foreign id', async () => {
    const { body } = await service.api.create(aFailure);
    const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    const foreign = await fetch(`${service.baseUrl}/v1/tasks/${body.task_id}`, {
      headers: { authorization: `Bearer ${other.body.key}` },
    });
    const unknown = await service.api.get<ErrorBody>('/v1/tasks/task_01jd8e5t9kf3qs7m2v4xw6yzab');
    const malformed = await service.api.get<ErrorBody>(`/v1/tasks/${encodeURIComponent("' or 1=1 --")}`);
    const errors = [(await foreign.json()) as ErrorBody, unknown.body, malformed.body].map(({ error }) => ({
      ...error,
      request_id: '',
    }));
    expect(foreign.status).toBe(404);
    expect(errors[0]).toMatchObject({ code: 'task_not_found' });
    expect(errors[1]).toEqual(errors[0]);
    expect(errors[2]).toEqual(errors[0]);
  });

  it('never lets progress fall while running', async () => {
    const { body } = await service.api.create({
      model: 'sora-2',
      prompt: 'Waves',
      duration: 3,
      resolution: '720P',
    });
    const seen: number[] = [];
    for (let task = body; task.status === 'queued' || task.status === 'running';) {
      ({ body: task } = await service.api.get(`/v1/tasks/${body.task_id}`));
      seen.push(task.progress);
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(100);
    expect(seen.filter((progress) => progress > 0 && progress < 100).length).toBeGreaterThan(0);
  });
});

interface Counts {
  queued: number;
  running: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  capped: boolean;
}

describe('filters of tasks', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  const made: Record<string, string> = {};

  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const prompts = {
      lighthouse: { ...aCat, prompt: 'A Lighthouse at dusk, 50% fog' },
      harbour: { ...aCat, prompt: 'A harbour at DUSK' },
      refused: aFailure,
      late: { ...aCat, prompt: '#fail:provider_timeout at dusk' },
    };
    for (const [name, body] of Object.entries(prompts)) {
      made[name] = (await service.api.create(body)).body.task_id;
      await service.api.untilFinal(made[name]!);
    }
    made.hang = (await service.api.create(aHang)).body.task_id;
    await service.api.until(made.hang, 'running');
    made.given_up = (await service.api.create(aHang)).body.task_id;
    await service.api.call('POST', `/v1/tasks/${made.given_up}/cancel`);
    await service.api.untilFinal(made.given_up);
  });
  afterAll(() => service.close());

  const names = (ids: string[]) => ids.map((id) => Object.keys(made).find((name) => made[name] === id)).sort();

  it.each([
    ['statuses=succeeded', '{ statuses: [SUCCEEDED] }', ['harbour', 'lighthouse']],
    ['statuses=running,failed', '{ statuses: [RUNNING, FAILED] }', ['given_up', 'hang', 'late', 'refused']],
    ['statuses=running&statuses=failed', '{ statuses: [FAILED, RUNNING] }', ['given_up', 'hang', 'late', 'refused']],
    ['statuses=queued', '{ statuses: [QUEUED] }', []],
    ['statuses=queued,running&status=failed', '{ statuses: [QUEUED, RUNNING], status: FAILED }', []],
    ['error_code=provider_timeout', '{ errorCode: PROVIDER_TIMEOUT }', ['late']],
    ['error_code=worker_lost', '{ errorCode: WORKER_LOST }', []],
    ['cancelled=true', '{ cancelled: true }', ['given_up']],
    ['cancelled=false&status=failed', '{ cancelled: false, status: FAILED }', ['late', 'refused']],
    ['cancelled=false', '{ cancelled: false }', ['hang', 'harbour', 'late', 'lighthouse', 'refused']],
    ['search=dusk', '{ search: "dusk" }', ['harbour', 'late', 'lighthouse']],
    ['search=DUSK%20light', '{ search: " DUSK light " }', ['lighthouse']],
    ['search=50%25', '{ search: "50%" }', ['lighthouse']],
    ['search=5_%25', '{ search: "5_%" }', []],
    [
      'search=dusk&statuses=succeeded,failed&error_code=provider_timeout',
      '{ search: "dusk", statuses: [SUCCEEDED, FAILED], errorCode: PROVIDER_TIMEOUT }',
      ['late'],
    ],
  ] as const)('%s selects the same over REST and GraphQL, in lists and in counts', async (query, filter, expected) => {
    const rest = await service.api.get<{ data: TaskBody[] }>(`/v1/tasks?${query}`);
    expect([rest.status, rest.text]).toEqual([200, expect.any(String)]);
    expect(names(rest.body.data.map(({ task_id }) => task_id))).toEqual(expected);
    const { data } = await graphql.ask<{ tasks: { edges: { node: { taskId: string } }[] }; taskCounts: Counts }>(
      `{ tasks(filter: ${filter}) { edges { node { taskId } } } taskCounts(filter: ${filter}) { queued running succeeded failed cancelled capped } }`,
    );
    expect(names(data.tasks.edges.map(({ node }) => node.taskId))).toEqual(expected);
    const { queued, running, succeeded, failed, capped } = data.taskCounts;
    expect([queued + running + succeeded + failed, capped]).toEqual([expected.length, false]);
    expect((await service.api.get<Counts>(`/v1/tasks/counts?${query}`)).body).toEqual(data.taskCounts);
  });

  it('are counted by status', async () => {
    const { body } = await service.api.get<Counts>('/v1/tasks/counts');
    expect(body).toEqual({ queued: 0, running: 1, succeeded: 2, failed: 3, cancelled: 1, capped: false });
  });

  it('select live news too', async () => {
    const followed = graphql.follow<{ tasksUpdated: { taskId: string } }>(
      'subscription { tasksUpdated(filter: { search: "beacon", statuses: [SUCCEEDED] }) { taskId } }',
    );
    const beacons: string[] = [];
    await eventually('the news', async () => {
      await service.api.create({ ...aCat, prompt: 'An owl' }, { prefer: 'wait=20' });
      beacons.push((await service.api.create({ ...aCat, prompt: 'A Beacon' }, { prefer: 'wait=20' })).body.task_id);
      return followed.data.length > 0; // the subscription may begin after the first of them
    });
    for (const { tasksUpdated } of followed.data) expect(beacons).toContain(tasksUpdated.taskId);
    await graphql.close();
  });

  it.each([
    ['statuses=done', 'invalid_value', 'statuses[0]'],
    ['statuses=', 'invalid_value', 'statuses[0]'],
    ['statuses=failed,failed', 'invalid_value', 'statuses'],
    ['error_code=none', 'invalid_value', 'error_code'],
    ['cancelled=maybe', 'invalid_type', 'cancelled'],
    ['search=', 'invalid_value', 'search'],
    ['search=%20', 'invalid_value', 'search'],
    [`search=${'x'.repeat(201)}`, 'string_too_long', 'search'],
    ['search=a+b+c+d+e+f+g+h+i', 'invalid_value', 'search'],
    ['search=a&search=b', 'invalid_type', 'search'],
    ['limit=1', 'unknown_parameter', 'limit'],
  ])('refuse %s', async (query, code, param) => {
    const { status, body } = await service.api.get<ErrorBody>(`/v1/tasks/counts?${query}`);
    expect({ status, code: body.error?.code, param: body.error?.param }).toEqual({ status: 400, code, param });
  });

  it('refuse text for a list in the body of a cancel', async () => {
    const { status, body } = await service.api.call<ErrorBody>('POST', '/v1/tasks/cancel', {
      filter: { statuses: 'queued' },
    });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_type', 'filter.statuses']);
  });

  it('are also in the first answer to a repeated creation', async () => {
    const create = `mutation { createGeneration(input: { model: "gpt-image-2", prompt: "A cat" }, idempotencyKey: "first") { taskId sequence requestId cover { url } } }`;
    type Created = { createGeneration: { taskId: string; requestId: string } };
    const { data: first } = await graphql.ask<Created>(create);
    const { data: again } = await graphql.ask<Created>(create);
    expect(again.createGeneration).toMatchObject({
      taskId: first.createGeneration.taskId,
      requestId: first.createGeneration.requestId,
    });
  });

  it('show what a list needs: the order of news, the beginning of the prompt, the request', async () => {
    const { headers, body } = await service.api.create({ ...aCat, prompt: `${'🌊'.repeat(5)} and more` });
    const { data } = await graphql.ask<{
      task: { sequence: number; start: string; promptStart: string; requestId: string };
    }>(`{ task(taskId: "${body.task_id}") { sequence requestId promptStart start: promptStart(characters: 3) } }`);
    expect(data.task).toMatchObject({ start: '🌊🌊🌊', promptStart: `${'🌊'.repeat(5)} and more` });
    expect(data.task.requestId).toBe(headers.get('x-request-id'));
    expect(data.task.sequence).toBeGreaterThan(0);
    const { errors } = await graphql.ask(`{ task(taskId: "${body.task_id}") { promptStart(characters: 1001) } }`);
    expect(errors?.[0]?.extensions.code).toBe('value_out_of_range');
  });
});

/** More than are compared in the order of the list, which are 2,000. */
const TASKS = 2_600;

interface Made {
  nth: number;
  kind: string;
  model: string;
  source: string;
  status: string;
  words: string;
  metadata: Record<string, string>;
  code: string | null;
}

/** Values that many tasks have, that few have, also on both sides of the 2,000th task, and that one has. */
const made: Made[] = Array.from({ length: TASKS }, (_, nth) => {
  const isFilm = nth % 300 === 7;
  const hasFailed = nth % 3 === 0;
  return {
    nth,
    kind: isFilm ? 'video' : 'image',
    model: isFilm ? 'sora-2' : 'gpt-image-2',
    source: nth % 420 === 0 ? 'mcp' : 'api',
    status: hasFailed ? 'failed' : 'succeeded',
    words: `A lighthouse ${nth % 500 === 5 ? 'in fog' : ''}`,
    metadata: { shop: nth % 2 === 0 ? 'north' : 'south', ...(nth % 400 === 1 && { campaign: 'spring' }) },
    code: hasFailed ? (nth % 450 === 0 ? 'worker_lost' : 'provider_timeout') : null,
  };
});
const START_S = 1_500_000_000;
const NEIGHBOUR = 'key_matching_neighbour';
/** Added to numbers, so that all have five digits. */
const FIRST = 10_000;
const idOf = ({ nth }: Made, owner: number): string =>
  `${idBoundAt(1000 * (START_S + nth))}e000000000${owner}${FIRST + nth}`;
const isRecent = ({ nth }: Made): boolean => nth > 400;

const FILTERS: [query: string, matches: (task: Made) => boolean][] = [
  ['kind=image', ({ kind }) => kind === 'image'],
  ['kind=video', ({ kind }) => kind === 'video'],
  ['model=sora-2', ({ model }) => model === 'sora-2'],
  ['model=seedance-2', () => false],
  ['source=mcp', ({ source }) => source === 'mcp'],
  ['source=mcp&kind=video', ({ source, kind }) => source === 'mcp' && kind === 'video'],
  ['metadata[shop]=north', ({ metadata }) => metadata.shop === 'north'],
  ['metadata[campaign]=spring', ({ metadata }) => metadata.campaign === 'spring'],
  ['metadata[campaign]=spring&kind=image', ({ metadata }) => metadata.campaign === 'spring'],
  ['metadata[shop]=north&model=sora-2', ({ metadata, model }) => metadata.shop === 'north' && model === 'sora-2'],
  ['error_code=worker_lost', ({ code }) => code === 'worker_lost'],
  ['error_code=provider_timeout', ({ code }) => code === 'provider_timeout'],
  ['cancelled=true', () => false],
  ['status=failed&source=mcp', ({ status, source }) => status === 'failed' && source === 'mcp'],
  ['search=FOG', ({ words }) => words.includes('fog')],
  ['search=fog&metadata[shop]=south', ({ words, metadata }) => words.includes('fog') && metadata.shop === 'south'],
  ['search=lighthouse', () => true],
  [`created_after=${START_S + 400}&model=sora-2`, (task) => isRecent(task) && task.model === 'sora-2'],
  [`created_after=${START_S + 400}&search=fog`, (task) => isRecent(task) && task.words.includes('fog')],
];

describe('filters that few of many tasks match', () => {
  let service: SharedService;

  beforeAll(async () => {
    service = await joinService();
    // The tasks of a neighbour match everything.
    for (const [at, owner] of [service.keyId, NEIGHBOUR].entries()) {
      await queryOnce(
        service.database.url,
        `insert into tasks_done (id, api_key_id, kind, model, source, status, input, metadata, created_at, completed_at, deadline_at, expires_at, result, error)
         select id, $1, kind, model, source, status, jsonb_build_object('prompt', words, 'n', 1), metadata,
                to_timestamp(${START_S} + nth), now(), now(), now() + interval '1 day', case status when 'succeeded' then '[]'::json end,
                case when code is not null then jsonb_build_object('code', code, 'message', '', 'retryable', true) end
         from jsonb_to_recordset($2) as made(id text, nth int, kind text, model text, source text, status text, words text, metadata jsonb, code text)`,
        [owner, JSON.stringify(made.map((task) => ({ ...task, id: idOf(task, at) })))],
      );
    }
  });
  afterAll(async () => {
    await queryOnce(service.database.url, 'delete from tasks_done where api_key_id = any($1)', [
      [service.keyId, NEIGHBOUR],
    ]);
    await service.close();
  });

  const pagesOf = async (query: string, limit: number): Promise<number[]> => {
    const found: number[] = [];
    for (let after = ''; ;) {
      const { status, body, text } = await service.api.get<{ data: TaskBody[]; has_more: boolean }>(
        `/v1/tasks?limit=${limit}&${query}${after && `&after=${after}`}`,
      );
      expect([status, text]).toEqual([200, expect.any(String)]);
      found.push(...body.data.map(({ task_id }) => Number(task_id.slice(-5)) - FIRST));
      if (!body.has_more) return found;
      expect(body.data).toHaveLength(limit);
      after = body.data.at(-1)!.task_id;
    }
  };

  it.each(FILTERS)('%s: pages have each task that matches, once and in order', async (query, matches) => {
    const expected = made.filter(matches).map(({ nth }) => nth);
    const limit = expected.length > 100 ? 100 : 3;
    expect(await pagesOf(query, limit)).toEqual(expected.toReversed());
    expect(await pagesOf(`${query}&order=asc`, limit)).toEqual(expected);
  });
});

describe('where a task comes from', () => {
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

  it('is always shown: the API, and no parent', async () => {
    const { body } = await service.api.create(aFailure);
    const origin = { source: 'api', parent_task_id: null, relation: null };
    expect(body).toMatchObject(origin);
    expect(await service.api.untilFinal(body.task_id)).toMatchObject(origin);
    const list = await service.api.get<{ data: TaskBody[] }>('/v1/tasks');
    expect(list.body.data[0]).toMatchObject(origin);
  });

  it('is a variation of the task that the request names as parent', async () => {
    const parent = (await service.api.create(aFailure)).body.task_id;
    const { status, body } = await service.api.create({ ...aFailure, parent_task_id: parent });
    expect(status).toBe(201);
    const origin = { source: 'api', parent_task_id: parent, relation: 'variation' };
    expect(body).toMatchObject(origin);
    expect(body.input).not.toHaveProperty('parent_task_id');
    expect(await service.api.untilFinal(body.task_id)).toMatchObject(origin);
  });

  it('is the same in GraphQL and in a stream', async () => {
    const parent = (await service.api.create(aFailure)).body.task_id;
    const { data } = await graphql.ask<{ createGeneration: { taskId: string } }>(
      `mutation ($input: CreateGenerationInput!) {
        createGeneration(input: $input) { taskId source parentTaskId relation }
      }`,
      { input: { ...aFailure, parentTaskId: parent } },
    );
    expect(data.createGeneration).toMatchObject({ source: 'API', parentTaskId: parent, relation: 'VARIATION' });
    const path = `/v1/tasks/${data.createGeneration.taskId}/events`;
    const stream = await EventReader.open(service.baseUrl, path, service.api.key!);
    await stream.ended;
    expect(stream.events[0]?.data).toMatchObject({ source: 'api', parent_task_id: parent, relation: 'variation' });
  });

  it.each(['task_01jd8e5t9kf3qs7m2v4xw6yzab', 'nonsense', ''])(
    'is refused if the parent is unknown: "%s"',
    async (id) => {
      const { status, body } = await service.api.create<ErrorBody>({ ...aCat, parent_task_id: id });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'parent_task_id']);
    },
  );

  it('is refused if the parent is a task of another API key', async () => {
    const foreign = (await service.api.create(aFailure)).body.task_id;
    const { key } = await anotherKey(service.api);
    const { status, body } = await new Api(service.baseUrl, key).create<ErrorBody>({
      ...aCat,
      parent_task_id: foreign,
    });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'parent_task_id']);
  });
});

describe('lists of tasks with long inputs and metadata', () => {
  /** 96 kB of JSON. */
  const prompt = aFailure.prompt.padEnd(16_000, '\u0001');
  /** 48 kB of JSON. */
  const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`key_${at}`, '\u0001'.repeat(512)]));
  const LONGEST = { ...aFailure, prompt, metadata };
  let service: SharedService;
  let graphql: GraphqlClient;
  let parent: string;
  const made: string[] = [];
  beforeAll(async () => {
    service = await joinService();
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'long' });
    service.api = new Api(service.baseUrl, body.key);
    graphql = new GraphqlClient(service.baseUrl, body.key);
    parent = (await service.api.create(aFailure)).body.task_id;
    for (let at = 0; at < 8; at += 1) {
      made.unshift((await service.api.create({ ...LONGEST, parent_task_id: parent })).body.task_id);
    }
  });
  afterAll(() => graphql.close());

  interface Answered {
    a: { edges: { node: { taskId: string } }[]; pageInfo: { hasNextPage: boolean } };
    b: Answered['a'];
  }
  const idsOf = ({ edges }: Answered['a']) => edges.map(({ node }) => node.taskId);

  it('end early, and go on with the next page', async () => {
    const seen: string[] = [];
    let pages = 0;
    let page: Page = { object: 'list', data: [], has_more: true, first_id: null, last_id: null };
    while (page.has_more) {
      const after = page.last_id ? `&after=${page.last_id}` : '';
      page = (await service.api.get<Page>(`/v1/tasks?limit=100${after}`)).body;
      pages += 1;
      seen.push(...page.data.map(({ task_id }) => task_id));
    }
    expect(seen).toEqual([...made, parent]);
    expect(pages).toBe(made.length); // one long task in each
  });

  it('share the characters of one document in GraphQL, each with one task at least', async () => {
    const page = '{ edges { node { taskId } } pageInfo { hasNextPage } }';
    const { data } = await graphql.ask<Answered>(`{ a: tasks(first: 100) ${page} b: tasks(first: 100) ${page} }`);
    expect([data!.a, data!.b].map((list) => [idsOf(list), list.pageInfo.hasNextPage])).toEqual([
      [[made[0]], true],
      [[made[0]], true],
    ]);
  });

  it('of children are refused beyond a megabyte', async () => {
    const children = async (first: number) => {
      const query = `{ task(taskId: "${parent}") { children(first: ${first}) { edges { node { taskId } } } } }`;
      const { data, errors } = await graphql.ask<{ task: { children: Answered['a'] } }>(query);
      return errors ? errors[0]!.extensions.code : idsOf(data!.task.children);
    };
    expect(await children(7)).toEqual(made.slice(0, 7));
    expect(await children(8)).toBe('too_many_items');
  });
});
