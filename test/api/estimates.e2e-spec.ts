// Own settings: prices, and a worker with one place that starts late; a line of 30,000 tasks must not stand before other tests.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { aCat, aFailure, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { freePort } from '../support/free-port.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

interface EstimateBody extends ErrorBody {
  object: string;
  input: Record<string, unknown>;
  cost: { amount_micros: number; currency: string; basis: string };
  estimated_start_at: number | null;
  estimated_completion_at: number | null;
  within_budget: boolean;
}

interface Estimate {
  object: string;
  task_id: string;
  status: string;
  position: number | null;
  waiting_for: string | null;
  estimated_start_at: number | null;
  estimated_completion_at: number | null;
  sampled_at: number;
}

const folder = mkdtempSync(join(tmpdir(), 'darkroom-estimates-'));
const PROVIDERS = join(folder, 'providers.yaml');
writeFileSync(
  PROVIDERS,
  `currency: EUR
models:
  gpt-image-2:
    - { provider: sandbox }
    - { provider: openai, model: gpt-image-2, credential: OPENAI_API_KEY }
    - { provider: fal, model: openai/gpt-image-2, credential: FAL_KEY }
  sora-2: [{ provider: sandbox }]
  seedance-2:
    - { provider: sandbox }
    - { provider: ark, model: doubao-seedance-2-0-260128, credential: ARK_API_KEY }
prices:
  - { provider: sandbox, model: gpt-image-2, per_image: "0.01" }
  - { provider: openai, quality: high, resolution: 4K, per_image: "0.41" }
  - { provider: openai, per_task: "0.000001", per_image: "0.04" }
  - { provider: fal, per_image: "9" }
  - { provider: ark, per_million_output_tokens: "7" }
  - { provider: sandbox, model: sora-2, per_second: "0.2" }
`,
);
afterAll(() => rmSync(folder, { recursive: true }));

const SETTINGS = { PROVIDERS, OPENAI_API_KEY: 'sk-test', ARK_API_KEY: 'test' };
let service: OwnService;
beforeAll(async () => {
  service = await startOwnService({ ...SETTINGS, ROLE: 'api' });
});
afterAll(() => service?.close());

const query = <Row = { id: string }>(statement: string, values: unknown[] = []) =>
  queryOnce<Row>(service.database.url, statement, values);
const nowS = () => Date.now() / 1000;
/** Of a new task. */
const estimate = (body: unknown, api = service.api) => api.call<EstimateBody>('POST', '/v1/estimates', body);
/** Of a task. */
const estimateOf = async (id: string, api = service.api) => (await api.get<Estimate>(`/v1/tasks/${id}/estimate`)).body;

describe('POST /v1/estimates', () => {
  it('answers with the resolved input and the cost at the dearest binding that has its credential', async () => {
    const { status, body } = await estimate({ ...aCat, n: 2, metadata: { a: 'b' } });
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'estimate',
      model: 'gpt-image-2',
      kind: 'image',
      input: { prompt: aCat.prompt, aspect_ratio: 'auto', resolution: '1K', n: 2, quality: 'auto' },
      cost: { amount_micros: 80_001, currency: 'EUR', basis: 'priced' },
      estimated_start_at: null,
      estimated_completion_at: null,
      within_budget: true,
    });
    const dear = await estimate({ ...aCat, quality: 'high', resolution: '4K' });
    expect(dear.body.cost).toMatchObject({ amount_micros: 410_000 });
    const film = await estimate({ model: 'sora-2', prompt: 'A river', duration: 4 });
    expect(film.body.cost).toMatchObject({ amount_micros: 800_000, basis: 'priced' });
  });

  it('says unpriced where no price is known before the call', async () => {
    const cost = { amount_micros: 0, currency: 'EUR', basis: 'unpriced' };
    expect((await estimate({ model: 'nano-banana-2', prompt: 'A cat' })).body.cost).toEqual(cost);
    expect((await estimate({ model: 'seedance-2', prompt: 'A river' })).body.cost).toEqual(cost); // by tokens alone
  });

  it('validates like a creation, and stores nothing', async () => {
    const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const image = `data:image/png;base64,${png.toString('base64')}`;
    const good = await estimate({ ...aCat, reference_images: [image] });
    expect([good.status, good.body.input.reference_images]).toEqual([200, [image]]);
    const bad: [object, string, string][] = [
      [{}, 'missing_required_parameter', 'model'],
      [{ model: 'gpt-image-3', prompt: 'x' }, 'model_not_found', 'model'],
      [{ ...aCat, n: 11 }, 'value_out_of_range', 'n'],
      [{ ...aCat, duration: 5 }, 'unsupported_parameter', 'duration'],
      [{ ...aCat, colour: 'red' }, 'unknown_parameter', 'colour'],
      [{ ...aCat, parent_task_id: 'task_01jd8e5t9kf3qs7m2v4xw6yzab' }, 'invalid_value', 'parent_task_id'],
      [{ ...aCat, reference_images: ['http://10.0.0.1/a.png'] }, 'url_not_allowed', 'reference_images[0]'],
      [{ ...aCat, reference_images: ['file_01jd8e5t9kf3qs7m2v4xw6yzab'] }, 'file_not_found', 'reference_images[0]'],
      [
        { ...aCat, reference_images: [`data:image/png;base64,${Buffer.from('no').toString('base64')}`] },
        'invalid_image',
        'reference_images[0]',
      ],
    ];
    for (const [body, code, param] of bad) {
      const created = await service.api.create<ErrorBody>(body);
      const estimated = await estimate(body);
      expect([estimated.status, estimated.body.error]).toMatchObject([400, { code, param }]);
      expect({ ...estimated.body.error, request_id: '' }).toEqual({ ...created.body.error, request_id: '' });
    }
    for (const table of ['tasks', 'idempotency_keys', 'uploads', 'upload_blobs']) {
      expect(await queryOnce(service.database.url, `select 1 from ${table}`)).toEqual([]);
    }
  });

  it('tells whether the budget of the key has room', async () => {
    const budget = { amount_micros: 100_002, period: 'day' };
    const scopes = ['generations:write', 'tasks:read'];
    const { body: key } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'x', scopes, limits: { budget } }); // prettier-ignore
    const api = new Api(service.baseUrl, key.key);
    const made = await api.create(aHang);
    expect(made.status).toBe(201);
    expect((await estimate(aCat, api)).body.within_budget).toBe(true);
    expect((await estimate({ ...aCat, n: 2 }, api)).body.within_budget).toBe(false);
    expect((await estimate({ ...aCat, n: 2 })).body.within_budget).toBe(true);
    await api.cancel(made.body.task_id);
  });
});

describe('positions among 30,000 waiting tasks', () => {
  beforeAll(async () => {
    await query('truncate tasks_live, tasks_done, task_words, key_load');
    await query(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, place, parked, waits)
       select 'task_01' || substr(md5(n::text), 1, 24), (select id from api_keys where name = 'BOOTSTRAP_API_KEY'), 'image', 'gpt-image-2', 'queued', '{}',
              now(), now() + interval '1 day', now() + interval '1 day', 1 + (n * 7919) % 1000, n % 50 = 0, n % 50 > 0
       from generate_series(1, 30000) n`,
    );
    const [last] = await query('select id from tasks where not parked order by place desc, id desc limit 1');
    await eventually('the line to be read again', async () => (await estimateOf(last!.id)).position !== 1);
  });
  afterAll(() => query('truncate tasks_live, tasks_done, task_words, key_load'));

  /** The place of each among all that wait. */
  const counted = async (ids: string[]) =>
    query<{ id: string; position: number }>(
      `select id, position from (
         select id, row_number() over (order by place, id)::int as position
         from tasks where status = 'queued' and not parked
       ) line where id = any($1) order by position`,
      [ids],
    );
  const some = async (condition: string, order: string): Promise<string[]> =>
    (await query(`select id from tasks where ${condition} order by ${order} limit 25`)).map(({ id }) => id);

  it('are those of a count of all tasks before them', async () => {
    const ids = [...(await some('not parked', 'place, id')), ...(await some('not parked and place < 100', 'md5(id)'))];
    const places = await counted(ids);
    expect(places.length).toBeGreaterThan(25);
    for (const { id, position } of places) expect(await estimateOf(id)).toMatchObject({ task_id: id, position });
  });

  it('are also those of tasks that are newer than the line that was read', async () => {
    const id = 'task_01000000000000000000000000';
    await estimateOf(id);
    await query(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, place)
       select $1, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, 50 from tasks where not parked limit 1`,
      [id],
    );
    expect(await counted([id])).toEqual([{ id, position: (await estimateOf(id)).position }]);
  });

  it('of tasks of low priority are behind the others, but for every tenth start', async () => {
    await query(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, place, low)
       select 'task_02' || lpad(n::text, 24, '0'), api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, 1, true
       from (select * from tasks where not parked limit 1) t, generate_series(1, 1500) n`,
    );
    const low = (nth: number) => estimateOf(`task_02${String(nth).padStart(24, '0')}`);
    await eventually('the next line', async () => (await low(2)).position === 20);
    expect((await low(1)).position).toBe(10);
    expect((await low(1000)).position).toBe(10_000);
    expect((await low(1001)).position).toBeNull();
    const [first, tenth] = await some('not parked and not low', 'place, id').then((ids) => [ids[0]!, ids[9]!]);
    expect((await estimateOf(first)).position).toBe(1);
    expect((await estimateOf(tenth)).position).toBe(11);
    await query('delete from tasks_live where low');
    await eventually('the line without them', async () => (await estimateOf(tenth)).position === 10);
  });

  it('end at 10,000', async () => {
    const far = await some('not parked and place > 400', 'md5(id)');
    for (const id of far)
      expect(await estimateOf(id)).toMatchObject({ position: null, waiting_for: 'worker', status: 'queued' });
    const parked = await some('parked', 'place, id');
    for (const id of parked) expect(await estimateOf(id)).toMatchObject({ position: null, waiting_for: 'key_limit' });
  });

  it('follow the line', async () => {
    const [first, second] = await some('not parked', 'place, id');
    expect((await estimateOf(second!)).position).toBe(2);
    const [{ body }] = [await service.api.cancel(first!)];
    expect(body.status).toBe('failed');
    await eventually('the next line', async () => (await estimateOf(second!)).position === 1);
  });
});

describe('with a worker that has one place', () => {
  let worker: OwnService;
  /** Has no limit of running tasks. */
  let tenant: Api;
  let tenantId: string;
  beforeAll(async () => {
    const { id, key } = await anotherKey(service.api, { limits: { max_running: 0 } });
    [tenant, tenantId] = [new Api(service.baseUrl, key), id];
  });
  afterAll(() => worker?.close());

  const times = async (body: object = {}, api = tenant) => {
    const { estimated_start_at: start, estimated_completion_at: end } = (await estimate({ ...aCat, ...body }, api))
      .body;
    return { start, end };
  };
  const startOf = async (body?: object, api?: Api) => (await times(body, api)).start ?? 0;
  /** Only the time for which a line has existed says how fast it moves. */
  const makeLineOld = () =>
    query(`update tasks_live set created_at = now() - interval '1 hour' where status = 'queued'`);

  it('the times of a generation are unknown before any task has run', async () => {
    expect(await times()).toEqual({ start: null, end: null });
    const place = { ...SETTINGS, WORKER_CONCURRENCY: '1', TASK_SWEEP_S: '0.3' };
    const env = { ...service.env, ...place, ROLE: 'worker', PORT: String(await freePort()) };
    worker = await startOwnService(env, service.database);
  });

  it('an estimate knows the place of a waiting task, when it starts and when it ends', async () => {
    const first = await service.api.create({ model: 'gpt-image-2', prompt: '#delay:1 A cat' });
    await service.api.untilFinal(first.body.task_id);
    const running = (await service.api.create(aHang)).body.task_id;
    await service.api.until(running, 'running');
    const waiting: string[] = [];
    for (let nth = 0; nth < 3; nth++) waiting.push((await service.api.create(aFailure)).body.task_id);
    await makeLineOld();

    await eventually('the places and the times', async () => {
      const { position, estimated_start_at: start, estimated_completion_at: end } = await estimateOf(waiting[2]!);
      return position === 3 && end !== null && start! - nowS() < 3 * 305; // two starts are counted
    });
    let before = Math.floor(nowS());
    const estimates = await Promise.all(waiting.map((id) => estimateOf(id)));
    expect(estimates.map(({ position }) => position)).toEqual([1, 2, 3]);
    for (const [at, each] of estimates.entries()) {
      expect(each).toMatchObject({
        object: 'task_estimate',
        task_id: waiting[at],
        status: 'queued',
        waiting_for: 'worker',
      });
      expect(each.estimated_start_at).toBeGreaterThanOrEqual(before);
      expect(each.estimated_completion_at).toBeGreaterThan(each.estimated_start_at!);
      expect(each.estimated_start_at! - nowS()).toBeLessThan(305 * (at + 1)); // two starts in five minutes, or fewer seconds
      expect(Math.abs(each.sampled_at - nowS())).toBeLessThan(30);
      before = each.estimated_start_at!;
    }

    const askedAt = Math.floor(nowS());
    const now = await estimateOf(running);
    expect(now).toMatchObject({ status: 'running', position: null, waiting_for: null, estimated_start_at: null });
    expect(now.estimated_completion_at).toBeGreaterThanOrEqual(askedAt);

    await service.api.cancel(running);
    for (const id of waiting) await service.api.untilFinal(id);
    expect(await estimateOf(waiting[0]!)).toMatchObject({
      status: 'failed',
      position: null,
      waiting_for: null,
      estimated_start_at: null,
      estimated_completion_at: null,
    });
  });

  it('an estimate says nothing about the end of a kind of run that has not succeeded yet', async () => {
    const { body } = await service.api.create({ model: 'seedance-2', prompt: '#hang' });
    await service.api.until(body.task_id, 'running');
    expect(await estimateOf(body.task_id)).toMatchObject({ status: 'running', estimated_completion_at: null });
    await service.api.cancel(body.task_id);
  });

  it('no estimate is of a task of others', async () => {
    const { body } = await service.api.create(aFailure);
    const other = new Api(service.baseUrl, (await anotherKey(service.api)).key);
    for (const id of [body.task_id, 'task_01jd8e5t9kf3qs7m2v4xw6yzab', 'nonsense']) {
      const answer = await other.get<ErrorBody>(`/v1/tasks/${id}/estimate`);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
    }
    await service.api.untilFinal(body.task_id);
  });

  it('an estimate is Task.estimate in GraphQL, of many tasks at once', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const { data } = await graphql.ask<{ tasks: { edges: { node: { taskId: string; estimate: object } }[] } }>(
      `{ tasks(first: 5) { edges { node { taskId estimate { taskId status position waitingFor estimatedStartAt sampledAt } } } } }`,
    );
    expect(data.tasks.edges.length).toBeGreaterThan(3);
    for (const { node } of data.tasks.edges) {
      expect(node.estimate).toMatchObject({ taskId: node.taskId, status: 'FAILED', position: null, waitingFor: null });
    }
    await graphql.close();
  });

  it('the times of a generation follow the place that the task would have in the line of its priority', async () => {
    await worker.close(); // it would start them
    for (let nth = 0; nth < 4; nth++) await tenant.create(aHang);
    const low = (await tenant.create({ ...aHang, priority: 'low' })).body.task_id;
    await makeLineOld();
    const { start, end } = await eventually('the line of five to be read', async () => {
      const { body } = await tenant.get<Estimate>(`/v1/tasks/${low}/estimate`);
      return body.position === 5 && body.estimated_start_at !== null && times();
    });
    expect(end).toBeGreaterThan(start!);
    // Behind four tasks of its own key; the first task of another key comes sooner, one of low priority later.
    const other = await anotherKey(service.api, { limits: { max_running: 0 } });
    expect(await startOf({}, new Api(service.baseUrl, other.key))).toBeLessThan(await startOf());
    expect(await startOf({ priority: 'low' })).toBeGreaterThan(await startOf());
    expect((await times({ resolution: '4K' })).end).toBeNull(); // no such run has succeeded yet
    expect((await times({ resolution: '4K' })).start).not.toBeNull();
  });

  it('the times of a generation are unknown while the limit of the key would hold the task', async () => {
    const { status } = await service.api.call('PATCH', `/v1/api_keys/${tenantId}`, { limits: { max_running: 1 } });
    expect(status).toBe(200);
    await query('update key_load set running = 1 where api_key_id = $1', [tenantId]);
    await eventually('the limit', async () => (await times()).start === null);
  });
});
