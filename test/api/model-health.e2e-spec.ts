// Own settings: providers that are away or unknown, prices, and two processes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aCat, aFailure, aHang } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { freePort } from '../support/free-port.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { eventually } from '../support/wait.ts';

interface Health {
  status: string;
  queued: number;
  running: number;
  median_run_s: number | null;
  success_rate: number | null;
  sampled_at: number;
}
interface ModelBody {
  id: string;
  available: boolean;
  health: Health;
  pricing: { currency: string; rows: object[] } | null;
}

const folder = mkdtempSync(join(tmpdir(), 'darkroom-health-'));
afterAll(() => rmSync(folder, { recursive: true }));

const modelOf = async ({ api }: OwnService, id: string) => (await api.get<ModelBody>(`/v1/models/${id}`)).body;

describe('the health of a model', () => {
  let worker: OwnService;
  let front: OwnService;
  beforeAll(async () => {
    const file = join(folder, 'providers.yaml');
    const away = `http://127.0.0.1:${await freePort()}`;
    writeFileSync(
      file,
      `
currency: EUR
models:
  nano-banana-2: [{ provider: comfyui, model: default, base_url: "${away}" }]
  nano-banana-pro: [{ provider: gemini, model: gemini-3-pro-image }]
prices:
  - { provider: sandbox, model: gpt-image-2, resolution: 4K, per_image: "0.41" }
  - { model: gpt-image-2, per_image: "0.04" }
  - { provider: openai, per_image: "9" }
`,
    );
    worker = await startOwnService({ PROVIDERS: file, ROLE: 'all' });
    const { DATA_DIR, SECRET_KEY, BOOTSTRAP_API_KEY } = worker.env;
    front = await startOwnService(
      {
        PROVIDERS: file,
        ROLE: 'api',
        DATA_DIR: DATA_DIR!,
        SECRET_KEY: SECRET_KEY!,
        BOOTSTRAP_API_KEY: BOOTSTRAP_API_KEY!,
      },
      worker.database,
    );
  });
  afterAll(async () => {
    await front?.close();
    await worker?.close();
  });

  it('counts what waits, runs and ends, in every process', async () => {
    const made = (await worker.api.create(aCat)).body.task_id;
    const failed = (await worker.api.create({ ...aCat, prompt: '#fail:provider_rejected' })).body.task_id;
    const refused = (await worker.api.create(aFailure)).body.task_id; // by a content policy: not counted
    const running = (await worker.api.create(aHang)).body.task_id;
    for (const id of [made, failed, refused]) await worker.api.untilFinal(id);
    await worker.api.until(running, 'running');
    // A process counts ends in memory, and writes the counts a moment later.
    const ends = `select 1 from pace_samples where model = 'gpt-image-2' having sum(succeeded) = 1 and sum(failed) = 1`;
    await eventually('both ends', async () => (await queryOnce(worker.database.url, ends)).length === 1);
    const allAsExpectedSince = Date.now() / 1000; // a sample may have been taken before
    for (const service of [worker, front]) {
      const health = await eventually('a new sample', async () => {
        const { health } = await modelOf(service, 'gpt-image-2');
        return health.sampled_at > allAsExpectedSince && health.median_run_s !== null && health;
      });
      expect(health).toMatchObject({ status: 'operational', queued: 0, running: 1, success_rate: 0.5 });
      expect(health.median_run_s).toBeGreaterThan(0);
      expect(Math.abs(health.sampled_at - Date.now() / 1000)).toBeLessThan(60);
    }
    await worker.api.cancel(running);
    const idle = await modelOf(front, 'sora-2');
    expect(idle.health).toMatchObject({ status: 'operational', queued: 0, median_run_s: null, success_rate: null });
  });

  it('says how long tasks take once five have succeeded', async () => {
    const read = async () => (await worker.api.get<{ typical: object | null }>('/v1/models/sora-2')).body.typical;
    expect(await read()).toBeNull();
    const film = { model: 'sora-2', prompt: 'A tram', duration: 1, resolution: '720P' };
    await worker.api.untilFinal((await worker.api.create(film)).body.task_id);
    // Four more, which need not be rendered.
    const more = `update run_times set run_ms = array_fill(2000, array[4]) || run_ms, wait_ms = array_fill(10, array[4]) || wait_ms
                  where model = 'sora-2' and resolution = '' and cardinality(run_ms) = 1 returning 1`;
    await eventually('the first', async () => (await queryOnce(worker.database.url, more)).length === 1);
    const typical = await eventually('the times', read);
    expect(typical).toEqual({ tasks: 5, wait_p50_ms: 10, run_p50_ms: 2000, run_p95_ms: expect.any(Number) });
  });

  it('is degraded in every process while calls to a provider are suspended', async () => {
    const ids: string[] = [];
    for (let nth = 0; nth < 6; nth++) {
      ids.push((await worker.api.create({ model: 'nano-banana-2', prompt: 'A kite' })).body.task_id);
    }
    for (const service of [worker, front]) {
      await eventually(
        'the trouble',
        async () => (await modelOf(service, 'nano-banana-2')).health.status === 'degraded',
      );
      expect((await modelOf(service, 'gpt-image-2')).health.status).toBe('operational');
    }
    for (const id of ids) await worker.api.cancel(id);
  });

  it('is unavailable when no provider can serve it', async () => {
    const { available, health } = await modelOf(front, 'nano-banana-pro');
    expect([available, health.status]).toEqual([false, 'unavailable']);
  });

  it('comes with the prices of the operator', async () => {
    expect((await modelOf(front, 'gpt-image-2')).pricing).toEqual({
      currency: 'EUR',
      rows: [
        { resolution: '4K', unit: 'image', amount_micros: 410_000 },
        { unit: 'image', amount_micros: 40_000 },
      ],
    });
    expect((await modelOf(front, 'sora-2')).pricing).toBeNull();
  });

  it('is the same in a list and in GraphQL', async () => {
    const list = (await front.api.get<{ data: ModelBody[] }>('/v1/models')).body.data;
    const graphql = new GraphqlClient(front.baseUrl, front.api.key);
    const { data } = await graphql.ask<{ models: { id: string; health: { status: string }; pricing: object }[] }>(
      '{ models { id health { status queued running medianRunS successRate sampledAt } pricing { currency rows { resolution quality unit amountMicros } } } }',
    );
    expect(data.models.map(({ health }) => health.status.toLowerCase())).toEqual(
      list.map(({ health }) => health.status),
    );
    expect(data.models[0]!.pricing).toEqual({
      currency: 'EUR',
      rows: [
        { resolution: '4K', quality: null, unit: 'IMAGE', amountMicros: 410_000 },
        { resolution: null, quality: null, unit: 'IMAGE', amountMicros: 40_000 },
      ],
    });
    await graphql.close();
  });
});
