import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TaskQueue } from '../../src/tasks/queue/task-queue.ts';
import { RollUp } from '../../src/usage/sql/roll-up.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { testEnv } from '../support/test-env.ts';
import { aCat, aFailure, aHang, Api, type TaskBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { cloneDatabase } from '../support/database.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { freePort } from '../support/free-port.ts';
import { spawnService } from '../support/process.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { GeminiStub } from '../support/stubs/gemini.stub.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';

interface Usage {
  images: number;
  video_seconds: number;
  resolution: string | null;
  quality: string | null;
  provider: string | null;
  submits: number;
  tokens: { input: number; output: number } | null;
  cost: { amount_micros: number; currency: string; basis: string };
}

const usageOf = (task: TaskBody): Usage => task.usage as Usage;

const folder = mkdtempSync(join(tmpdir(), 'darkroom-usage-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a service with this PROVIDERS file. */
async function serviceWith(yaml: string, settings: Record<string, string> = {}): Promise<InProcess> {
  const file = join(folder, `providers-${Math.random()}.yaml`);
  writeFileSync(file, yaml);
  return startInProcess({ PROVIDERS: file, PROVIDER_POLL_INTERVAL_MS: '20', ...settings });
}

async function finalOf({ api }: InProcess, body: object): Promise<TaskBody> {
  const { status, body: task } = await api.create(body);
  expect(status).toBe(201);
  return api.untilFinalWithin(task.task_id, 120_000);
}

const ledgerOf = async ({ database }: InProcess, taskId: string) =>
  (await queryOnce(database.url, 'select * from usage_ledger where task_id = $1', [taskId])) as Record<
    string,
    unknown
  >[];

describe('the usage of a task in the sandbox', () => {
  let service: InProcess;
  beforeAll(async () => {
    service = await serviceWith(`
currency: EUR
prices:
  - { provider: sandbox, model: gpt-image-2, resolution: 2K, per_task: "0.000001", per_image: 0.1 }
  - { provider: sandbox, model: gpt-image-2, per_image: "0.02", on_failure: full }
  - { provider: sandbox, model: seedance-2, per_second: "0.15", on_cancel: none }
  - { provider: sandbox, model: nano-banana-2, per_task: "0" }
`);
  });
  afterAll(() => service.close());

  it('is absent until the task is final, and priced by what was made', async () => {
    const { body: created } = await service.api.create({ ...aCat, n: 2, resolution: '2K' });
    expect(created).not.toHaveProperty('usage');
    const task = await service.api.untilFinal(created.task_id);
    expect(task.usage).toEqual({
      images: 2,
      video_seconds: 0,
      resolution: '2K',
      quality: 'auto',
      provider: 'sandbox',
      submits: 1,
      tokens: null,
      cost: { amount_micros: 200_001, currency: 'EUR', basis: 'priced' },
    });
    expect(await ledgerOf(service, task.task_id)).toMatchObject([
      {
        outcome: 'succeeded',
        images: 2,
        cost_micros: '200001',
        basis: 'priced',
        provider: 'sandbox',
        resolution: '2K',
      },
    ]);
  });

  it('of a failed task follows on_failure', async () => {
    const full = await finalOf(service, { ...aFailure, n: 3 });
    expect(usageOf(full)).toMatchObject({ images: 0, submits: 1, cost: { amount_micros: 60_000, basis: 'priced' } });
    const none = await finalOf(service, { model: 'seedance-2', prompt: '#fail:provider_rejected' });
    expect(usageOf(none)).toMatchObject({ submits: 1, cost: { amount_micros: 0, basis: 'priced' } });
    const unknown = await finalOf(service, { ...aCat, prompt: '#fail:provider_outcome_unknown' });
    expect(usageOf(unknown).cost).toMatchObject({ amount_micros: 20_000, basis: 'assumed' });
  });

  it('of a cancelled task is assumed once it was submitted, and follows on_cancel', async () => {
    const cancelled = async (body: object) => {
      const { body: task } = await service.api.create(body);
      const rows = 'select 1 from tasks where id = $1 and submitted_at is not null';
      await eventually(
        'the submit',
        async () => (await queryOnce(service.database.url, rows, [task.task_id])).length > 0,
      );
      return usageOf((await service.api.cancel(task.task_id)).body);
    };
    expect((await cancelled(aHang)).cost).toMatchObject({ amount_micros: 20_000, basis: 'assumed' });
    expect((await cancelled({ model: 'seedance-2', prompt: '#hang' })).cost).toMatchObject({
      amount_micros: 0,
      basis: 'assumed',
    });
  });

  it('with a price of zero or without one costs nothing, and says which', async () => {
    const free = await finalOf(service, { model: 'nano-banana-2', prompt: 'A cat' });
    expect(usageOf(free)).toMatchObject({
      submits: 0,
      provider: 'sandbox',
      cost: { amount_micros: 0, basis: 'priced' },
    });
    const unpriced = await finalOf(service, { model: 'nano-banana-pro', prompt: 'A cat' });
    expect(usageOf(unpriced)).toMatchObject({
      images: 1,
      provider: 'sandbox',
      cost: { amount_micros: 0, basis: 'unpriced' },
    });
    const failed = await finalOf(service, { model: 'nano-banana-pro', prompt: '#fail:provider_rejected' });
    expect(usageOf(failed).cost).toMatchObject({ amount_micros: 0, basis: 'free' });
  });
});

describe('the usage of a paid task', () => {
  const openai = new OpenaiStub();
  const gemini = new GeminiStub();
  const ark = new ArkStub();
  const stubs = [openai, gemini, ark];
  const keys = { OPENAI_API_KEY: openai.key, GEMINI_API_KEY: gemini.key, ARK_API_KEY: ark.key };
  const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
  const prices = (perSecond: string) => `
prices:
  - { provider: openai, per_image: "0.04", per_million_input_tokens: "5", per_million_output_tokens: "40" }
  - { provider: gemini, model: nano-banana-2, per_image: 0.1 }
  - { provider: gemini, per_million_input_tokens: "0.5", per_task: "0.000001" }
  - { provider: ark, model: seedance-2, per_second: "${perSecond}", on_failure: full }
  - { provider: ark, per_million_output_tokens: "7" }
`;
  let service: InProcess;
  beforeAll(async () => {
    await Promise.all(stubs.map((stub) => stub.start()));
    ark.real = true;
    service = await serviceWith(prices('0.15'), {
      ...keys,
      OPENAI_BASE_URL: openai.baseUrl,
      GEMINI_BASE_URL: gemini.baseUrl,
      ARK_BASE_URL: ark.baseUrl,
    });
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(stubs.map((stub) => stub.stop()));
  });

  it('is reported where the provider tells tokens that have a price', async () => {
    const task = await finalOf(service, { ...aCat, n: 2 });
    expect(usageOf(task)).toMatchObject({
      images: 2,
      provider: 'openai',
      submits: 1,
      tokens: { input: 12, output: 4160 },
      cost: { amount_micros: 12 * 5 + 4160 * 40, currency: 'USD', basis: 'reported' },
    });
    const film = await finalOf(service, { ...aFilm, model: 'sora-2' });
    const cost = { amount_micros: 108_900 * 7, basis: 'reported' };
    expect(usageOf(film)).toMatchObject({ video_seconds: 4, tokens: { input: 0, output: 108_900 }, cost });
  }, 60_000);

  it('is priced by the piece where tokens have no price, and counts every call', async () => {
    const task = await finalOf(service, { model: 'nano-banana-2', prompt: 'A cat', n: 2 });
    expect(usageOf(task)).toMatchObject({
      submits: 2,
      tokens: { input: 18, output: 2580 },
      cost: { amount_micros: 200_000, basis: 'priced' },
    });
    // 9 tokens at half a micro-unit: rounded once, half up, after all is added.
    const other = await finalOf(service, { model: 'nano-banana-pro', prompt: 'A cat' });
    expect(usageOf(other).cost).toMatchObject({ amount_micros: 1 + 5, basis: 'reported' });
    const film = await finalOf(service, aFilm);
    expect(usageOf(film)).toMatchObject({ video_seconds: 4, cost: { amount_micros: 600_000, basis: 'priced' } });
  }, 60_000);

  it('is free when the provider refused the call, and full when the provider failed with on_failure', async () => {
    openai.plan(/^POST .*generations$/, {
      reply: { status: 401, body: { error: { code: 'invalid_api_key', message: '' } } },
    });
    expect(usageOf(await finalOf(service, aCat))).toMatchObject({
      submits: 0,
      cost: { amount_micros: 0, basis: 'free' },
    });
    ark.endings.push({ code: 'InternalServiceError' });
    expect(usageOf(await finalOf(service, aFilm))).toMatchObject({
      submits: 1,
      video_seconds: 0,
      cost: { amount_micros: 600_000, basis: 'priced' },
    });
  }, 60_000);

  it('of a cancelled job is assumed, and becomes nothing when the provider confirms that it never ran', async () => {
    const cancelled = async (steps: ArkStub['steps'], polls: number): Promise<TaskBody> => {
      ark.steps = steps;
      const polled = ark.count(/^GET .*tasks\/cgt/);
      const { body: task } = await service.api.create(aFilm);
      await eventually('the polls', async () => ark.count(/^GET .*tasks\/cgt/) >= polled + polls);
      const { body } = await service.api.cancel(task.task_id);
      expect(usageOf(body)).toMatchObject({ submits: 1, cost: { amount_micros: 600_000, basis: 'assumed' } });
      return body;
    };
    const deletes = ark.count(/^DELETE/);
    const running = await cancelled({ queued: 0, running: 10_000 }, 2);
    await eventually('the refused cancel', async () => ark.count(/^DELETE/) > deletes);
    const queued = await cancelled({ queued: 10_000, running: 0 }, 1);
    const free = await eventually('the confirmation', async () => {
      const { body, headers } = await service.api.get(`/v1/tasks/${queued.task_id}`);
      return usageOf(body).cost.basis === 'free' && { body, etag: headers.get('etag') };
    });
    expect(usageOf(free.body)).toEqual({
      ...usageOf(queued),
      cost: { amount_micros: 0, currency: 'USD', basis: 'free' },
    });
    expect(await ledgerOf(service, queued.task_id)).toMatchObject([{ basis: 'free', cost_micros: '0' }]);
    expect(usageOf((await service.api.get(`/v1/tasks/${running.task_id}`)).body).cost.basis).toBe('assumed');
    ark.steps = { queued: 1, running: 2 };
  }, 60_000);

  it('follows the price at the submit, and a lost answer adds its full price', async () => {
    const { DATABASE_URL: _, ...env } = service.env;
    const file = join(folder, 'changing.yaml');
    const port = String(await freePort());
    const settings = {
      ...env,
      ...keys,
      PROVIDERS: file,
      TASK_LEASE_S: '2',
      TASK_HEARTBEAT_S: '0.3',
      TASK_SWEEP_S: '0.2',
    };
    writeFileSync(file, prices('0.15'));
    const front = await cloneDatabase();
    const api = await startInProcess(
      { ...settings, ROLE: 'api', PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, DATA_DIR: join(folder, 'front') },
      front,
    );
    const worker = async () => {
      const own = await testEnv(front.url, { ...settings, ROLE: 'worker', PORT: String(await freePort()) });
      return spawnService({ ...own.env, PUBLIC_URL: `http://127.0.0.1:${own.env.PORT}` });
    };
    let running = await worker();
    try {
      ark.steps = { queued: 1, running: 10_000 };
      const { body: film } = await api.api.create(aFilm);
      const accepted = `select 1 from tasks where id = $1 and upstream_id is not null`;
      await eventually('the job', async () => (await queryOnce(front.url, accepted, [film.task_id])).length > 0);
      const submitted = openai.count(/^POST .*generations$/);
      openai.plan(/^POST .*generations$/, 'hang');
      const { body: picture } = await api.api.create(aCat);
      await eventually('the paid call', async () => openai.count(/^POST .*generations$/) > submitted);
      await running.kill('SIGKILL');

      writeFileSync(file, prices('999'));
      running = await worker();
      ark.steps = { queued: 0, running: 0 };
      expect(usageOf(await api.api.untilFinalWithin(film.task_id, 60_000))).toMatchObject({
        submits: 1,
        cost: { amount_micros: 600_000, basis: 'priced' },
      });
      expect(usageOf(await api.api.untilFinalWithin(picture.task_id, 60_000))).toMatchObject({
        images: 1,
        submits: 2,
        cost: { amount_micros: 40_000 + 12 * 5 + 4160 * 40, basis: 'assumed' },
      });
    } finally {
      await running.kill('SIGKILL');
      await api.close();
      await front.drop();
      ark.steps = { queued: 1, running: 2 };
    }
  }, 150_000);
});

describe('the ledger', () => {
  let service: InProcess;
  beforeAll(async () => {
    service = await serviceWith(
      `prices: [{ provider: sandbox, model: gpt-image-2, per_image: "0.07", on_failure: full }, { model: nano-banana-2, per_task: "0.5" }]`,
      { MAX_RUNNING_PER_KEY: '20', TASK_RETENTION_DAYS: '0.0003', FILE_RETENTION_DAYS: '0.0003' },
    );
  });
  afterAll(() => service.close());

  it('agrees with the tasks under 200 races of cancel and end, and outlives deleted and purged tasks', async () => {
    const bodies = [
      aFailure,
      { model: 'nano-banana-2', prompt: '#fail:provider_rejected' },
      { ...aCat, prompt: '#delay:0.05 #fail:provider_rejected' },
    ];
    const raced = await Promise.all(
      Array.from({ length: 200 }, async (_, nth) => {
        const { body } = await service.api.create(bodies[nth % 3]);
        await sleep(Math.random() * 400);
        await Promise.all([service.api.cancel(body.task_id), service.api.cancel(body.task_id)]);
        return (await service.api.get(`/v1/tasks/${body.task_id}`)).body;
      }),
    );
    expect(raced.map(({ status }) => status)).toEqual(Array(200).fill('failed'));
    const totals = async () => {
      const { body } = await service.api.get<{ totals: Record<string, number> }>(
        '/v1/usage?start_time=1700000000&bucket_width=all',
      );
      return body.totals;
    };
    const cost = (some: TaskBody[]) => some.reduce((sum, task) => sum + usageOf(task).cost.amount_micros, 0);
    const cancelled = raced.filter(({ error }) => error?.code === 'task_cancelled');
    const expected = {
      tasks: 200,
      succeeded: 0,
      cancelled: cancelled.length,
      failed: 200 - cancelled.length,
      submits: raced.reduce((sum, task) => sum + usageOf(task).submits, 0),
      cost_micros: cost(raced),
      assumed_micros: cost(raced.filter((task) => usageOf(task).cost.basis === 'assumed')),
    };
    expect(await totals()).toMatchObject(expected);
    expect(cost(raced)).toBeGreaterThan(0);

    for (const { task_id } of raced.slice(0, 3)) {
      expect((await service.api.call('DELETE', `/v1/tasks/${task_id}`)).status).toBe(200);
    }
    expect(await totals()).toMatchObject(expected);
    const left = () =>
      queryOnce<{ tasks: number }>(
        service.database.url,
        'select count(*)::int as tasks from tasks where expires_at > now()',
      );
    await eventually('the retention', async () => (await left())[0]!.tasks === 0, 60_000);
    expect(await totals()).toMatchObject(expected);
    expect(await queryOnce(service.database.url, 'select count(*)::int as rows from usage_ledger')).toEqual([
      { rows: 200 },
    ]);
  }, 120_000);

  it('holds the queued tasks of a revoked key', async () => {
    const { body: key } = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', {
      name: 'x',
      limits: { max_running: 1 },
    });
    const own = new Api(service.baseUrl, key.key);
    for (let nth = 0; nth < 3; nth += 1) await own.create(aHang);
    await own.until((await own.get<{ data: TaskBody[] }>('/v1/tasks')).body.data[2]!.task_id, 'running');
    await service.api.call('DELETE', `/v1/api_keys/${key.id}`);
    const rows = await queryOnce(
      service.database.url,
      'select outcome, basis from usage_ledger where api_key_id = $1',
      [key.id],
    );
    expect(rows).toEqual([
      { outcome: 'cancelled', basis: 'free' },
      { outcome: 'cancelled', basis: 'free' },
    ]);
  }, 60_000);

  it('is shown alike in REST, GraphQL, webhooks and events, and computed for a task that ended before it existed', async () => {
    const receiver = await Receiver.start();
    try {
      const endpoint = await new WebhookClient(service.api).endpoint(receiver.url);
      const task = await finalOf(service, { ...aFailure, model: 'nano-banana-2' });
      expect(usageOf(task)).toMatchObject({ submits: 1, cost: { amount_micros: 0, basis: 'priced' } });
      const hook = await eventually('the webhook', async () =>
        receiver.received.find(({ body }) => body.includes(task.task_id)),
      );
      expect((JSON.parse(hook.body) as { data: TaskBody }).data.usage).toEqual(task.usage);
      const graphql = new GraphqlClient(service.baseUrl, service.api.key!);
      const fields =
        'images videoSeconds resolution quality provider submits tokens { input output } cost { amountMicros currency basis }';
      const { data } = await graphql.ask<{ task: { usage: object } }>(
        `{ task(taskId: "${task.task_id}") { usage { ${fields} } } }`,
      );
      const { video_seconds, cost, ...same } = usageOf(task);
      const money = { amountMicros: cost.amount_micros, currency: cost.currency, basis: cost.basis.toUpperCase() };
      expect(data!.task.usage).toEqual({ ...same, videoSeconds: video_seconds, cost: money });
      const events = await service.api.get(`/v1/tasks/${task.task_id}/events`);
      expect(events.text).toContain(JSON.stringify(task.usage));
      await service.api.call('DELETE', `/v1/webhook_endpoints/${endpoint.id}`);

      const { body: old } = await service.api.create({ ...aFailure, prompt: '#delay:1 #fail:provider_rejected' });
      await service.api.untilFinal(old.task_id);
      await queryOnce(service.database.url, 'update tasks set usage = null where id = $1', [old.task_id]);
      await eventually('the cache to forget', async () => {
        const { body } = await service.api.get(`/v1/tasks/${old.task_id}`);
        return usageOf(body).cost.basis === 'unpriced' && usageOf(body).resolution === '1K';
      });
    } finally {
      await receiver.stop();
    }
  }, 90_000);
});

describe('a late confirmation of a cancel', () => {
  let service: InProcess;
  beforeAll(async () => {
    service = await serviceWith(`prices: [{ model: gpt-image-2, per_image: "0.04" }]`);
  });
  afterAll(() => service.close());

  const cancelledTask = async (): Promise<TaskBody> => {
    const { body: task } = await service.api.create(aHang);
    const rows = 'select 1 from tasks where id = $1 and submitted_at is not null';
    const submitted = async () => (await queryOnce(service.database.url, rows, [task.task_id])).length > 0;
    await eventually('the submit', submitted);
    return (await service.api.cancel(task.task_id)).body;
  };
  const confirm = (id: string) => service.app.get(TaskQueue).cancelConfirmed(id);
  const stored = (id: string) =>
    queryOnce(service.database.url, 'select sequence, usage from tasks where id = $1', [id]);

  it('corrects the record and the ledger once', async () => {
    const { task_id } = await cancelledTask();
    await confirm(task_id);
    expect(await ledgerOf(service, task_id)).toMatchObject([{ basis: 'free', cost_micros: '0' }]);
    const once = await stored(task_id);
    expect(once).toMatchObject([{ usage: { basis: 'free', cost_micros: 0 } }]);
    await confirm(task_id);
    expect(await stored(task_id)).toEqual(once);
  });

  it('changes nothing once a sum contains the row, so that record, ledger and sums agree', async () => {
    const { task_id } = await cancelledTask();
    const before = await stored(task_id);
    await queryOnce(service.database.url, 'update usage_ledger set rolled_up = true where task_id = $1', [task_id]);
    await confirm(task_id);
    expect(await ledgerOf(service, task_id)).toMatchObject([{ basis: 'assumed', cost_micros: '40000' }]);
    expect(await stored(task_id)).toEqual(before);
  });

  it('is awaited by the sums for two minutes', async () => {
    const { task_id } = await cancelledTask();
    const isSummed = async () => (await ledgerOf(service, task_id))[0]!.rolled_up;
    await service.app.get(RollUp).next();
    expect(await isSummed()).toBe(false);
    const age = `update usage_ledger set completed_at = now() - interval '121 s' where task_id = $1`;
    await queryOnce(service.database.url, age, [task_id]);
    await eventually('the sum', async () => {
      await service.app.get(RollUp).next();
      return isSummed();
    });
  });
});

describe('REVEAL_PROVIDERS=off', () => {
  it('hides who served a task, and a key can not group by it', async () => {
    const service = await startInProcess({ REVEAL_PROVIDERS: 'off' });
    try {
      const task = await finalOf(service, { ...aCat });
      expect(usageOf(task).provider).toBeNull();
      expect(await ledgerOf(service, task.task_id)).toMatchObject([{ provider: 'sandbox' }]);
      const path = '/v1/usage?start_time=1700000000&bucket_width=all&group_by=provider';
      const { body } = await service.api.get<{ data: { results: { provider: unknown; tasks: number }[] }[] }>(path);
      expect(body.data[0]!.results).toMatchObject([{ provider: null, tasks: 1 }]);
    } finally {
      await service.close();
    }
  }, 90_000);
});
