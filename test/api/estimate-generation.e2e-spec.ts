import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { Pace } from '../../src/tasks/queue/pace.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { aCat, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { eventually } from '../support/wait.ts';

interface EstimateBody extends ErrorBody {
  object: string;
  input: Record<string, unknown>;
  cost: { amount_micros: number; currency: string; basis: string };
  estimated_start_at: number | null;
  estimated_completion_at: number | null;
  within_budget: boolean;
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

let service: InProcess;
beforeAll(async () => {
  service = await startInProcess({ PROVIDERS, OPENAI_API_KEY: 'sk-test', ARK_API_KEY: 'test', ROLE: 'api' });
});
afterAll(() => service.close());

const estimate = (body: unknown, api = service.api) => api.call<EstimateBody>('POST', '/v1/estimates', body);

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
    expect((await api.create(aHang)).status).toBe(201);
    expect((await estimate(aCat, api)).body.within_budget).toBe(true);
    expect((await estimate({ ...aCat, n: 2 }, api)).body.within_budget).toBe(false);
    expect((await estimate({ ...aCat, n: 2 })).body.within_budget).toBe(true);
  });

  it('is the same in GraphQL', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const { data } = await graphql.ask(
      `{ estimateGeneration(input: { model: "gpt-image-2", prompt: "A cat", n: 3 }) {
           object model kind input cost { amountMicros currency basis } estimatedStartAt estimatedCompletionAt withinBudget } }`,
    );
    expect(data).toMatchObject({
      estimateGeneration: {
        object: 'estimate',
        kind: 'IMAGE',
        input: { n: 3 },
        cost: { amountMicros: 120_001, currency: 'EUR', basis: 'PRICED' },
        withinBudget: true,
      },
    });
    const { errors } = await graphql.ask('{ estimateGeneration(input: { model: "x", prompt: "x" }) { object } }');
    expect(errors).toMatchObject([{ extensions: { code: 'model_not_found' } }]);
  });
});

describe('the expected times of a generation', () => {
  let worker: InProcess;
  beforeAll(async () => {
    worker = await startInProcess({ WORKER_CONCURRENCY: '1', MAX_RUNNING_PER_KEY: '0' });
  });
  afterAll(() => worker.close());

  const times = async (body: object = {}, api = worker.api) => {
    const { estimated_start_at: start, estimated_completion_at: end } = (await estimate({ ...aCat, ...body }, api))
      .body;
    return { start, end };
  };
  const startOf = async (body?: object, api?: Api) => (await times(body, api)).start ?? 0;

  it('are unknown without data', async () => {
    expect(await times()).toEqual({ start: null, end: null });
  });

  it('follow the place that the task would have in the line of its priority', async () => {
    const first = await worker.api.create({ ...aCat, prompt: '#delay:1 A cat' });
    await worker.api.untilFinal(first.body.task_id);
    const running = (await worker.api.create(aHang)).body.task_id;
    await worker.api.until(running, 'running');
    for (let nth = 0; nth < 4; nth++) await worker.api.create(aHang);
    await worker.api.create({ ...aHang, priority: 'low' });
    await worker.app.get(Pace).flush();

    await eventually('the line to be read', async () => (await startOf()) > Date.now() / 1000 + 2);
    const { start, end } = await times();
    expect(end).toBeGreaterThan(start!);
    // Behind four tasks of its own key; the first task of another key comes sooner, one of low priority later.
    const scopes = ['generations:write', 'tasks:read'];
    const limits = { max_running: 0 };
    const { body: other } = await worker.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other', scopes, limits }); // prettier-ignore
    expect(await startOf({}, new Api(worker.baseUrl, other.key))).toBeLessThan(await startOf());
    expect(await startOf({ priority: 'low' })).toBeGreaterThan(await startOf());
    expect((await times({ resolution: '4K' })).end).toBeNull(); // no such run has succeeded yet
    expect((await times({ resolution: '4K' })).start).not.toBeNull();
  });

  it('are unknown while the limit of the key would hold the task', async () => {
    const { body: keys } = await worker.api.get<{ data: { id: string }[] }>('/v1/api_keys');
    const { status } = await worker.api.call('PATCH', `/v1/api_keys/${keys.data.at(-1)!.id}`, { limits: { max_running: 1 } }); // prettier-ignore
    expect(status).toBe(200);
    await eventually('the limit', async () => (await times()).start === null);
  });
});
