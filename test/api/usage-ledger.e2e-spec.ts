// Own settings: prices, and providers whose answers have one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql, Statement } from '../../src/platform/database/sql.ts';
import { ConfirmCancel } from '../../src/tasks/sql/confirm-cancel.ts';
import { RollUp } from '../../src/usage/sql/roll-up.ts';
import { testEnv } from '../support/test-env.ts';
import { aCat, aFailure, aHang, Api, type TaskBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { finishedBy, GEMINI_FAULTS, GeminiStub } from '../support/stubs/gemini.stub.ts';
import { OPENAI_FAULTS } from '../support/stubs/openai-faults.ts';
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

async function finalOf(api: Api, body: object): Promise<TaskBody> {
  const { status, body: task } = await api.create(body);
  expect(status).toBe(201);
  return api.untilFinal(task.task_id);
}

const ledgerIn = (url: string, taskId: string) =>
  queryOnce<Record<string, unknown>>(url, 'select * from usage_ledger where task_id = $1', [taskId]);

describe('the usage of a task in the sandbox', () => {
  let service: OwnService;
  beforeAll(async () => {
    const file = join(folder, 'sandbox.yaml');
    writeFileSync(
      file,
      `
currency: EUR
prices:
  - { provider: sandbox, model: gpt-image-2, resolution: 2K, per_task: "0.000001", per_image: 0.1 }
  - { provider: sandbox, model: gpt-image-2, per_image: "0.02", on_failure: full }
  - { provider: sandbox, model: seedance-2, per_second: "0.15", on_cancel: none }
  - { provider: sandbox, model: nano-banana-2, per_task: "0" }
`,
    );
    service = await startOwnService({ PROVIDERS: file });
  });
  afterAll(() => service.close());

  const query = <Row>(text: string, values: unknown[]) => queryOnce<Row>(service.database.url, text, values);
  const ledgerOf = (taskId: string) => ledgerIn(service.database.url, taskId);
  const untilSubmitted = (id: string) =>
    eventually('the submit', async () => (await query('select 1 from tasks where id = $1 and submitted_at is not null', [id])).length > 0); // prettier-ignore
  /** What a worker runs now and then. */
  const sql = { run: ({ text }: Statement, values: unknown[]) => query(text, values) } as Sql;
  const rollUp = () => new RollUp(sql).next();
  const keyOf = async (limits: object = {}) => {
    const { id, key } = await anotherKey(service.api, { limits });
    return { id, api: new Api(service.baseUrl, key) };
  };

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
    expect(await ledgerOf(task.task_id)).toMatchObject([
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
    const full = await finalOf(service.api, { ...aFailure, n: 3 });
    expect(usageOf(full)).toMatchObject({ images: 0, submits: 1, cost: { amount_micros: 60_000, basis: 'priced' } });
    const none = await finalOf(service.api, { model: 'seedance-2', prompt: '#fail:provider_rejected' });
    expect(usageOf(none)).toMatchObject({ submits: 1, cost: { amount_micros: 0, basis: 'priced' } });
    const unknown = await finalOf(service.api, { ...aCat, prompt: '#fail:provider_outcome_unknown' });
    expect(usageOf(unknown).cost).toMatchObject({ amount_micros: 20_000, basis: 'assumed' });
  });

  it('of a cancelled task is assumed once it was submitted, and follows on_cancel', async () => {
    const cancelled = async (body: object) => {
      const { body: task } = await service.api.create(body);
      await untilSubmitted(task.task_id);
      return usageOf((await service.api.cancel(task.task_id)).body);
    };
    expect((await cancelled(aHang)).cost).toMatchObject({ amount_micros: 20_000, basis: 'assumed' });
    expect((await cancelled({ model: 'seedance-2', prompt: '#hang' })).cost).toMatchObject({
      amount_micros: 0,
      basis: 'assumed',
    });
  });

  it('with a price of zero or without one costs nothing, and says which', async () => {
    const free = await finalOf(service.api, { model: 'nano-banana-2', prompt: 'A cat' });
    expect(usageOf(free)).toMatchObject({
      submits: 0,
      provider: 'sandbox',
      cost: { amount_micros: 0, basis: 'priced' },
    });
    const unpriced = await finalOf(service.api, { model: 'nano-banana-pro', prompt: 'A cat' });
    expect(usageOf(unpriced)).toMatchObject({
      images: 1,
      provider: 'sandbox',
      cost: { amount_micros: 0, basis: 'unpriced' },
    });
    const failed = await finalOf(service.api, { model: 'nano-banana-pro', prompt: '#fail:provider_rejected' });
    expect(usageOf(failed).cost).toMatchObject({ amount_micros: 0, basis: 'free' });
  });

  it('agrees with the ledger when cancels race with ends, and the ledger outlives deleted tasks', async () => {
    const { id, api } = await keyOf({ max_running: 0 });
    const bodies = [aFailure, { model: 'seedance-2', prompt: '#fail:provider_rejected' }, aHang];
    const raced = await Promise.all(
      Array.from({ length: 30 }, async (_, nth) => {
        const { body } = await api.create(bodies[nth % 3]);
        if (nth < 10 && nth % 3 < 2) await api.untilFinal(body.task_id); // so that some have ended before
        await Promise.all([api.cancel(body.task_id), api.cancel(body.task_id)]);
        return (await api.get(`/v1/tasks/${body.task_id}`)).body;
      }),
    );
    expect(raced.map(({ status }) => status)).toEqual(Array(30).fill('failed'));
    const totals = async () =>
      (await api.get<{ totals: object }>('/v1/usage?start_time=1700000000&bucket_width=all')).body.totals;
    const cost = (some: TaskBody[]) => some.reduce((sum, task) => sum + usageOf(task).cost.amount_micros, 0);
    const cancelled = raced.filter(({ error }) => error?.code === 'task_cancelled');
    const expected = {
      tasks: 30,
      succeeded: 0,
      cancelled: cancelled.length,
      failed: 30 - cancelled.length,
      submits: raced.reduce((sum, task) => sum + usageOf(task).submits, 0),
      cost_micros: cost(raced),
      assumed_micros: cost(raced.filter((task) => usageOf(task).cost.basis === 'assumed')),
    };
    expect(await totals()).toMatchObject(expected);
    expect(cost(raced)).toBeGreaterThan(0);

    for (const { task_id } of raced.slice(0, 3)) {
      expect((await api.call('DELETE', `/v1/tasks/${task_id}`)).status).toBe(200);
    }
    expect(await totals()).toMatchObject(expected);
    expect(await query('select count(*)::int as rows from usage_ledger where api_key_id = $1', [id])).toEqual([
      { rows: 30 },
    ]);
  });

  it('of the queued tasks of a revoked key is in the ledger', async () => {
    const { id, api } = await keyOf({ max_running: 1 });
    for (let nth = 0; nth < 3; nth += 1) await api.create(aHang);
    await eventually('one to run', async () => (await query(`select 1 from tasks where api_key_id = $1 and status = 'running'`, [id])).length === 1); // prettier-ignore
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
    expect(await query('select outcome, basis from usage_ledger where api_key_id = $1', [id])).toEqual([
      { outcome: 'cancelled', basis: 'free' },
      { outcome: 'cancelled', basis: 'free' },
    ]);
  });

  it('is shown alike in REST, GraphQL, webhooks and events, and computed for a task that ended before it existed', async () => {
    const receiver = await Receiver.start();
    try {
      const endpoint = await new WebhookClient(service.api).endpoint(receiver.url);
      const task = await finalOf(service.api, aFailure);
      expect(usageOf(task)).toMatchObject({ submits: 1, cost: { amount_micros: 20_000, basis: 'priced' } });
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

      const { body: old } = await service.api.create({ ...aFailure, prompt: '#fail:provider_rejected' });
      await service.api.untilFinal(old.task_id);
      await queryOnce(service.database.url, 'update tasks_done set usage = null where id = $1', [old.task_id]);
      await service.api.call('PUT', `/v1/tasks/${old.task_id}/keep`); // the service then reads the task again
      const { body: shown } = await service.api.get(`/v1/tasks/${old.task_id}`);
      expect(usageOf(shown)).toMatchObject({ resolution: '1K', cost: { basis: 'unpriced' } });
    } finally {
      await receiver.stop();
    }
  });

  it('by error says why tasks failed, before and after they are summed up, and when the tasks are deleted', async () => {
    const { id, api } = await keyOf();
    const fail = (code: string) => ({ ...aCat, prompt: `A cup #fail:${code}` });
    await api.cancel((await api.create(aHang)).body.task_id);
    for (const body of [aCat, fail('provider_timeout'), fail('provider_timeout'), fail('content_policy_violation')])
      await finalOf(api, body);
    const client = new GraphqlClient(service.baseUrl, api.key);
    const read = async () => {
      const { data } = await client.ask<{ usage: { data: { results: object[] }[] } }>(
        `{ usage(startTime: 1700000000, bucketWidth: "all", groupBy: ["error_code"]) {
             data { results { errorCode tasks failed cancelled } } } }`,
      );
      return data.usage.data[0]!.results;
    };
    const expected = [
      { errorCode: 'provider_timeout', tasks: 2, failed: 2, cancelled: 0 },
      { errorCode: null, tasks: 2, failed: 0, cancelled: 1 },
      { errorCode: 'content_policy_violation', tasks: 1, failed: 1, cancelled: 0 },
    ];
    expect(await read()).toEqual(expect.arrayContaining(expected));
    await query(`update usage_ledger set completed_at = completed_at - interval '121 s' where api_key_id = $1`, [id]);
    await eventually('the sums', async () => {
      await rollUp();
      return (await query('select 1 from usage_ledger where api_key_id = $1 and rolled_up', [id])).length === 5;
    });
    expect(await read()).toEqual(expect.arrayContaining(expected));
    const failed = (await api.get<{ data: { task_id: string }[] }>('/v1/tasks?status=failed')).body.data;
    for (const { task_id } of failed) await api.call('DELETE', `/v1/tasks/${task_id}`);
    expect(await read()).toHaveLength(3);
  });

  it('has sums of 1,000 values of a pair a day, and one of all others', async () => {
    const { id } = await keyOf();
    const [{ noon }] = (await query<{ noon: Date }>(
      `select date_trunc('day', now(), 'UTC') - interval '12 hours' as noon`,
      [],
    )) as [{ noon: Date }];
    const insert = (from: number, to: number) =>
      query(
        `insert into usage_ledger (task_id, api_key_id, completed_at, outcome, kind, model, source, images, video_seconds, submits,
                                   cost_micros, basis, metadata)
         select 'task_' || $1 || n, $1, $4::timestamptz, 'succeeded', 'image', 'gpt-image-2', 'api', 1, 0, 1, 7,
                'priced', jsonb_build_object('order', 'order ' || n, 'team', 'one')
           from generate_series($2::int, $3::int) n`,
        [id, from, to, noon],
      );
    const untilSummed = () =>
      eventually('the sums', async () => {
        await rollUp();
        return (await query('select 1 from usage_ledger where api_key_id = $1 and not rolled_up', [id])).length === 0;
      });
    const sums = () =>
      query(
        `select count(distinct metadata_value)::int as values, sum(tasks)::int as tasks, sum(cost_micros)::int as cost_micros,
                coalesce(sum(tasks) filter (where metadata_value = '(other)'), 0)::int as others
           from usage_sums where api_key_id = $1 and metadata_key = 'order'`,
        [id],
      );
    await query(`delete from usage_values where api_key_id = $1`, [id]);
    await insert(1, 990);
    await untilSummed();
    expect(await sums()).toEqual([{ values: 990, tasks: 990, cost_micros: 6_930, others: 0 }]);
    await insert(991, 1_050);
    await untilSummed();
    expect(await sums()).toEqual([{ values: 1_001, tasks: 1_050, cost_micros: 7_350, others: 50 }]);
    const known = await query<{ value: string }>(
      `select metadata_value as value from usage_sums
        where api_key_id = $1 and metadata_key = 'order' and metadata_value <> '(other)' limit 1`,
      [id],
    );
    const again = Number(known[0]!.value.replace('order ', ''));
    await query('delete from usage_ledger where api_key_id = $1', [id]);
    await insert(again, again);
    await insert(2_000, 2_004);
    await untilSummed();
    expect(await sums()).toEqual([{ values: 1_001, tasks: 1_056, cost_micros: 7_392, others: 55 }]);
    const team = `select sum(tasks)::int as tasks from usage_sums where api_key_id = $1 and metadata_key = 'team'`;
    expect(await query(team, [id])).toEqual([{ tasks: 1_056 }]);
  });

  it('has sums of 100 names of pairs a day; tasks with others count as those without them', async () => {
    const { id, api } = await keyOf();
    const insert = (from: number, to: number) =>
      query(
        `insert into usage_ledger (task_id, api_key_id, completed_at, outcome, kind, model, source, images, video_seconds, submits,
                                   cost_micros, basis, metadata)
         select 'task_' || $1 || n, $1, date_trunc('day', now(), 'UTC') - interval '12 hours', 'succeeded', 'image', 'gpt-image-2',
                'api', 1, 0, 1, 7, 'priced', jsonb_build_object('order-' || n, 'x', 'team', 'one')
           from generate_series($2::int, $3::int) n`,
        [id, from, to],
      );
    const untilSummed = () =>
      eventually('the sums', async () => {
        await rollUp();
        return (await query('select 1 from usage_ledger where api_key_id = $1 and not rolled_up', [id])).length === 0;
      });
    const names = () =>
      query<{ name: string }>(
        `select distinct metadata_key as name from usage_sums where api_key_id = $1 and metadata_key <> ''`,
        [id],
      );
    await insert(1, 60);
    await untilSummed();
    expect(await names()).toHaveLength(61);
    await insert(61, 150);
    await untilSummed();
    expect(await names()).toHaveLength(100);
    await insert(151, 160);
    await untilSummed();
    expect(await names()).toHaveLength(100);
    const summed = (await names()).map(({ name }) => name);
    expect(summed).toContain('team');
    const other = Array.from({ length: 160 }, (_, at) => `order-${at + 1}`).find((name) => !summed.includes(name))!;
    for (const name of ['team', other]) {
      const { body } = await api.get<{ data: { results: { tasks: number; metadata: object }[] }[] }>(
        `/v1/usage?start_time=1700000000&bucket_width=all&group_by=metadata.${name}`,
      );
      const results = body.data[0]!.results.map(({ tasks }) => tasks);
      expect(results).toEqual([160]);
    }
  });

  describe('that was cancelled, when its provider confirms that it never ran,', () => {
    const cancelledTask = async (): Promise<TaskBody> => {
      const { body: task } = await service.api.create(aHang);
      await untilSubmitted(task.task_id);
      return (await service.api.cancel(task.task_id)).body;
    };
    const confirm = (id: string) => new ConfirmCancel(sql).confirm(id);
    const stored = (id: string) => query('select sequence, usage from tasks where id = $1', [id]);

    it('corrects the record and the ledger once', async () => {
      const { task_id } = await cancelledTask();
      await confirm(task_id);
      expect(await ledgerOf(task_id)).toMatchObject([{ basis: 'free', cost_micros: '0' }]);
      const once = await stored(task_id);
      expect(once).toMatchObject([{ usage: { basis: 'free', cost_micros: 0 } }]);
      await confirm(task_id);
      expect(await stored(task_id)).toEqual(once);
    });

    it('changes nothing once a sum contains the row, so that record, ledger and sums agree', async () => {
      const { task_id } = await cancelledTask();
      const before = await stored(task_id);
      await query('update usage_ledger set rolled_up = true where task_id = $1', [task_id]);
      await confirm(task_id);
      expect(await ledgerOf(task_id)).toMatchObject([{ basis: 'assumed', cost_micros: '20000' }]);
      expect(await stored(task_id)).toEqual(before);
    });

    it('changes nothing if an earlier call of the task was lost, which the provider may have charged', async () => {
      const { task_id } = await cancelledTask();
      await query('update tasks_done set lost_submits = 1 where id = $1', [task_id]);
      await confirm(task_id);
      expect(await ledgerOf(task_id)).toMatchObject([{ basis: 'assumed', cost_micros: '20000' }]);
    });

    it('is awaited by the sums for two minutes', async () => {
      const { task_id } = await cancelledTask();
      const isSummed = async () => (await ledgerOf(task_id))[0]!.rolled_up;
      await rollUp();
      expect(await isSummed()).toBe(false);
      const age = `update usage_ledger set completed_at = now() - interval '121 s' where task_id = $1`;
      await query(age, [task_id]);
      await eventually('the sum', async () => {
        await rollUp();
        return isSummed();
      });
    });
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
models:
  nano-banana-pro: [{ provider: gemini, model: gemini-nano-banana-2.1 }, { provider: openai, model: gpt-image-2 }]
prices:
  - { provider: openai, per_image: "0.04", per_million_input_tokens: "5", per_million_output_tokens: "40" }
  - { provider: gemini, model: nano-banana-2, per_image: 0.1 }
  - { provider: gemini, per_million_input_tokens: "0.5", per_task: "0.000001" }
  - { provider: ark, model: seedance-2, per_second: "${perSecond}", on_failure: full }
  - { provider: ark, per_million_output_tokens: "7" }
`;
  const file = join(folder, 'paid.yaml');
  let database: TestDatabase;
  let env: Record<string, string>;
  let service: ServiceProcess;
  beforeAll(async () => {
    await Promise.all(stubs.map((stub) => stub.start()));
    ark.real = true;
    writeFileSync(file, prices('0.15'));
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url, {
      ...keys,
      PROVIDERS: file,
      PROVIDER_POLL_INTERVAL_MS: '20',
      TASK_SWEEP_S: '0.2',
      TASK_HEARTBEAT_S: '0.5', // how long a worker that has started takes nothing over
      OPENAI_BASE_URL: openai.baseUrl,
      GEMINI_BASE_URL: gemini.baseUrl,
      ARK_BASE_URL: ark.baseUrl,
    }));
    service = await spawnService(env);
  });
  afterAll(async () => {
    await service.kill('SIGKILL');
    await Promise.all(stubs.map((stub) => stub.stop()));
    await database.drop();
    rmSync(env.DATA_DIR!, { recursive: true });
  });
  const ledgerOf = (taskId: string) => ledgerIn(database.url, taskId);

  it('is reported where the provider tells tokens that have a price', async () => {
    const task = await finalOf(service.api, { ...aCat, n: 2 });
    expect(usageOf(task)).toMatchObject({
      images: 2,
      provider: 'openai',
      submits: 1,
      tokens: { input: 12, output: 4160 },
      cost: { amount_micros: 12 * 5 + 4160 * 40, currency: 'USD', basis: 'reported' },
    });
    const film = await finalOf(service.api, { ...aFilm, model: 'sora-2' });
    const cost = { amount_micros: 108_900 * 7, basis: 'reported' };
    expect(usageOf(film)).toMatchObject({ video_seconds: 4, tokens: { input: 0, output: 108_900 }, cost });
  });

  it('is priced by the piece where tokens have no price, and counts every call', async () => {
    const task = await finalOf(service.api, { model: 'nano-banana-2', prompt: 'A cat', n: 2 });
    expect(usageOf(task)).toMatchObject({
      submits: 2,
      tokens: { input: 18, output: 2580 },
      cost: { amount_micros: 200_000, basis: 'priced' },
    });
    // 9 tokens at half a micro-unit: rounded once, half up, after all is added.
    const other = await finalOf(service.api, { model: 'nano-banana-pro', prompt: 'A cat' });
    expect(usageOf(other).cost).toMatchObject({ amount_micros: 1 + 5, basis: 'reported' });
    const film = await finalOf(service.api, aFilm);
    expect(usageOf(film)).toMatchObject({ video_seconds: 4, cost: { amount_micros: 600_000, basis: 'priced' } });
  });

  it('is free when the provider refused the call, and full when the provider failed with on_failure', async () => {
    openai.plan(/^POST .*generations$/, {
      reply: { status: 401, body: { error: { code: 'invalid_api_key', message: '' } } },
    });
    expect(usageOf(await finalOf(service.api, aCat))).toMatchObject({
      submits: 0,
      cost: { amount_micros: 0, basis: 'free' },
    });
    ark.endings.push({ code: 'InternalServiceError' });
    expect(usageOf(await finalOf(service.api, aFilm))).toMatchObject({
      submits: 1,
      video_seconds: 0,
      cost: { amount_micros: 600_000, basis: 'priced' },
    });
  });

  describe('at an upstream that fails', () => {
    const A_PICTURE = /^POST .*:generateContent$/;
    const banana = { model: 'nano-banana-2', prompt: 'A cat' };
    const asUsual = { delayMs: 0 };

    it('is that of one picture when the model was overloaded before, and nothing was bought then', async () => {
      const before = gemini.count(A_PICTURE);
      gemini.plan(A_PICTURE, GEMINI_FAULTS.overloaded, GEMINI_FAULTS.internal);
      const task = await finalOf(service.api, banana);
      expect(usageOf(task)).toMatchObject({ images: 1, submits: 1, cost: { amount_micros: 100_000, basis: 'priced' } });
      expect(gemini.count(A_PICTURE)).toBe(before + 3);
    });

    it('is that of the next binding, which is tried at once', async () => {
      const before = gemini.count(A_PICTURE);
      gemini.plan(A_PICTURE, GEMINI_FAULTS.overloaded);
      const task = await finalOf(service.api, { ...banana, model: 'nano-banana-pro' });
      expect(usageOf(task)).toMatchObject({ images: 1, submits: 1, provider: 'openai' });
      expect(gemini.count(A_PICTURE)).toBe(before + 1);
    });

    it('counts the paid call that made no picture', async () => {
      gemini.plan(A_PICTURE, finishedBy('NO_IMAGE'));
      expect(usageOf(await finalOf(service.api, banana))).toMatchObject({ images: 1, submits: 2 });
      gemini.plan(A_PICTURE, finishedBy('NO_IMAGE'), finishedBy('STOP'));
      const none = await finalOf(service.api, banana);
      expect(none.error).toMatchObject({ code: 'provider_no_result', retryable: true });
      expect(usageOf(none)).toMatchObject({ images: 0, submits: 2 });
    });

    it('keeps two of three pictures, and assumes that a call without an answer was charged', async () => {
      gemini.plan(A_PICTURE, { cut: 'after' });
      const task = await finalOf(service.api, { ...banana, n: 3 });
      expect(task).toMatchObject({ status: 'succeeded', approximations: [{ param: 'n', requested: '3', used: '2' }] });
      const cost = { amount_micros: 300_000, basis: 'assumed' };
      expect(usageOf(task)).toMatchObject({ images: 2, submits: 3, cost });
      gemini.plan(A_PICTURE, finishedBy('NO_IMAGE'), asUsual, asUsual, finishedBy('NO_IMAGE'));
      const fewer = await finalOf(service.api, { ...banana, n: 3 });
      expect(usageOf(fewer)).toMatchObject({
        images: 2,
        submits: 4,
        cost: { amount_micros: 200_000, basis: 'priced' },
      });
    });

    it.each([
      ['a 5xx of OpenAI', OPENAI_FAULTS.serverError],
      ['a broken connection', { cut: 'after' } as const],
    ])('invites nobody to try again what %s may have charged', async (what, fault) => {
      openai.plan(/^POST .*generations$/, fault);
      const call = await service.api.call<{ error: { code: string } }>('POST', '/v1/images/generations', {
        prompt: what, // an equal call would get the failure of the first one
      });
      expect([call.status, call.headers.get('x-should-retry')]).toEqual([422, 'false']);
      expect(call.body.error.code).toBe('provider_outcome_unknown');
      const { body } = await service.api.get(`/v1/tasks/${call.headers.get('task-id')}`);
      expect(body.error).toMatchObject({ retryable: false });
      expect(usageOf(body)).toMatchObject({ submits: 1, cost: { amount_micros: 40_000, basis: 'assumed' } });
    });
  });

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
    expect(await ledgerOf(queued.task_id)).toMatchObject([{ basis: 'free', cost_micros: '0' }]);
    expect(usageOf((await service.api.get(`/v1/tasks/${running.task_id}`)).body).cost.basis).toBe('assumed');
    ark.steps = { queued: 1, running: 2 };
  });

  it('follows the price at the submit, and a lost answer adds its full price; who served it may be hidden', async () => {
    ark.steps = { queued: 1, running: 10_000 };
    const { body: film } = await service.api.create(aFilm);
    const accepted = `select 1 from tasks where id = $1 and upstream_id is not null`;
    await eventually('the job', async () => (await queryOnce(database.url, accepted, [film.task_id])).length > 0);
    const submitted = openai.count(/^POST .*generations$/);
    openai.plan(/^POST .*generations$/, 'hang');
    const { body: picture } = await service.api.create(aCat);
    await eventually('the paid call', async () => openai.count(/^POST .*generations$/) > submitted);
    await service.kill('SIGKILL');
    await queryOnce(database.url, `update tasks_live set lease_until = now() where status = 'running'`);

    writeFileSync(file, prices('999'));
    ark.steps = { queued: 0, running: 0 };
    service = await spawnService({ ...env, REVEAL_PROVIDERS: 'off' });
    expect(usageOf(await service.api.untilFinal(film.task_id))).toMatchObject({
      provider: null,
      submits: 1,
      cost: { amount_micros: 600_000, basis: 'priced' },
    });
    expect(usageOf(await service.api.untilFinal(picture.task_id))).toMatchObject({
      images: 1,
      submits: 2,
      cost: { amount_micros: 40_000 + 12 * 5 + 4160 * 40, basis: 'assumed' },
    });
    expect(await ledgerOf(film.task_id)).toMatchObject([{ provider: 'ark' }]);
    const { body: timeline } = await service.api.get<{ data: { type: string; provider: unknown }[] }>(
      `/v1/tasks/${film.task_id}/timeline`,
    );
    expect(timeline.data.map(({ type }) => type)).toContain('accepted');
    expect(timeline.data.map(({ provider }) => provider)).toEqual(timeline.data.map(() => null));
    const path = '/v1/usage?start_time=1700000000&bucket_width=all&group_by=provider';
    const { body } = await service.api.get<{ data: { results: { provider: unknown }[] }[] }>(path);
    expect(body.data[0]!.results.map(({ provider }) => provider)).toEqual([null]);
  });
});
