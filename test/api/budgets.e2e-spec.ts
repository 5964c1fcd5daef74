// Own settings: prices.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Sql, Statement } from '../../src/platform/database/sql.ts';
import { ConfirmCancel } from '../../src/tasks/sql/confirm-cancel.ts';
import { reserveForTasks } from '../../src/tasks/sql/reserve-for-tasks.ts';
import { END_TASK } from '../support/moved-task.ts';
import { aCat, aFailure, aHang, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { type BatchBody, BatchClient } from '../support/clients/batches.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { LockedRows } from '../support/faults/locked-rows.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

interface KeyBody {
  id: string;
  key: string;
  limits: { budget: { amount_micros: number; period: string; soft_percent: number | null } | null };
  budget_status: {
    spent_micros: number;
    reserved_micros: number;
    period_start: number;
    period_end: number | null;
  } | null;
}

const folder = mkdtempSync(join(tmpdir(), 'darkroom-budgets-'));
const PROVIDERS = join(folder, 'providers.yaml');
writeFileSync(
  PROVIDERS,
  `prices:
  - { provider: sandbox, model: gpt-image-2, resolution: 2K, per_image: "0.5" }
  - { provider: sandbox, model: gpt-image-2, per_image: "0.1", on_failure: full }
  - { provider: sandbox, model: seedance-2, per_second: "0.2", on_cancel: none }
`,
);
afterAll(() => rmSync(folder, { recursive: true }));

/** One of `aCat` or `aFailure`. */
const PICTURE = 100_000;
const DAY_S = 86_400;

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService({ PROVIDERS, TASK_SWEEP_S: '0.2' });
});
afterAll(() => service.close());

const createKey = async (budget: unknown, more: object = {}): Promise<KeyBody> => {
  const { status, body } = await service.api.call<KeyBody>('POST', '/v1/api_keys', {
    name: 'budgeted',
    limits: { budget },
    ...more,
  });
  expect(status).toBe(201);
  return body;
};
const apiOf = ({ key }: KeyBody): Api => new Api(service.baseUrl, key);
const keyBody = async (id: string): Promise<KeyBody> => (await service.api.get<KeyBody>(`/v1/api_keys/${id}`)).body;
const statusOf = async (id: string) => (await keyBody(id)).budget_status!;
const patch = (id: string, body: unknown, by = service.api) =>
  by.call<KeyBody & ErrorBody>('PATCH', `/v1/api_keys/${id}`, body);
const query = <Row>(text: string, values: unknown[] = []) => queryOnce<Row>(service.database.url, text, values);
/** What a worker does when the provider of a cancelled job tells that it never ran. */
const confirmCancel = (taskId: string) => {
  const sql = { run: ({ text }: Statement, values: unknown[]) => query(text, values) } as Sql;
  return new ConfirmCancel(sql).confirm(taskId);
};

describe('a budget', () => {
  it('is shown with the key, in REST and GraphQL', async () => {
    const before = Math.floor(Date.now() / 1000);
    const month = await createKey({ amount_micros: 5_000_000, period: 'month', soft_percent: 80 });
    const now = new Date();
    const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / 1000;
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1000;
    const budget = { amount_micros: 5_000_000, period: 'month', soft_percent: 80 };
    const status = { spent_micros: 0, reserved_micros: 0, period_start: start, period_end: end };
    for (const shown of [month, await keyBody(month.id)]) {
      expect(shown.limits.budget).toEqual(budget);
      expect(shown.budget_status).toEqual(status);
    }
    const total = await createKey({ amount_micros: 7, period: 'total' });
    expect(total.limits.budget).toEqual({ amount_micros: 7, period: 'total', soft_percent: null });
    expect(total.budget_status).toMatchObject({ spent_micros: 0, period_end: null });
    expect(total.budget_status!.period_start).toBeGreaterThanOrEqual(before - 1);
    const { body: list } = await service.api.get<{ data: KeyBody[] }>('/v1/api_keys?limit=100');
    expect(list.data.find(({ id }) => id === month.id)?.budget_status).toEqual(status);

    const graphql = new GraphqlClient(service.baseUrl, month.key);
    const viewer = await graphql.ask(
      '{ viewer { limits { budget { amountMicros period softPercent } } budgetStatus { spentMicros reservedMicros periodStart periodEnd } } }',
    );
    expect(viewer.data).toEqual({
      viewer: {
        limits: { budget: { amountMicros: 5_000_000, period: 'MONTH', softPercent: 80 } },
        budgetStatus: { spentMicros: 0, reservedMicros: 0, periodStart: start, periodEnd: end },
      },
    });
    const { body: own } = await service.api.call<KeyBody>('POST', '/v1/api_keys', { name: 'free' });
    expect(own.limits.budget).toBeNull();
    expect(own.budget_status).toBeNull();
  });

  it.each([
    [{ amount_micros: -1, period: 'day' }, 'limits.budget.amount_micros', 'value_out_of_range'],
    [{ amount_micros: 1.5, period: 'day' }, 'limits.budget.amount_micros', 'invalid_type'],
    [{ amount_micros: '1', period: 'day' }, 'limits.budget.amount_micros', 'invalid_type'],
    [{ amount_micros: 1 }, 'limits.budget.period', 'missing_required_parameter'],
    [{ period: 'day' }, 'limits.budget.amount_micros', 'missing_required_parameter'],
    [{ amount_micros: 1, period: 'week' }, 'limits.budget.period', 'invalid_value'],
    [{ amount_micros: 1, period: 'day', soft_percent: 100 }, 'limits.budget.soft_percent', 'value_out_of_range'],
    [{ amount_micros: 1, period: 'day', soft_percent: 0 }, 'limits.budget.soft_percent', 'value_out_of_range'],
    [{ amount_micros: 1, period: 'day', currency: 'USD' }, 'limits.budget.currency', 'unknown_parameter'],
    [[], 'limits.budget', 'invalid_type'],
    [5, 'limits.budget', 'invalid_type'],
  ])('is refused as %j', async (budget, param, code) => {
    const { id } = await createKey({ amount_micros: 1, period: 'day' });
    for (const [method, path, extra] of [
      ['POST', '/v1/api_keys', { name: 'x' }],
      ['PATCH', `/v1/api_keys/${id}`, {}],
    ] as const) {
      const { status, body } = await service.api.call<ErrorBody>(method, path, { ...extra, limits: { budget } });
      expect([status, body.error]).toMatchObject([400, { code, param }]);
    }
    expect((await keyBody(id)).limits.budget).toMatchObject({ amount_micros: 1, period: 'day' });
  });

  it('bounds whose secret its key can get by a rotation', async () => {
    const scopes = ['keys:manage', 'generations:write'];
    const manager = apiOf(await createKey({ amount_micros: 500, period: 'month' }, { scopes }));
    const rotate = ({ id }: { id: string }) => manager.call<ErrorBody>('POST', `/v1/api_keys/${id}/rotate`, {});
    const unbounded = await createKey(undefined, { scopes: ['generations:write'] });
    const { status, body } = await rotate(unbounded);
    expect([status, body.error]).toMatchObject([403, { code: 'insufficient_scope', param: 'limits.budget' }]);
    const narrower = await createKey({ amount_micros: 400, period: 'total' }, { scopes: ['generations:write'] });
    expect((await rotate(narrower)).status).toBe(200);
  });

  it('is at most that of the key that grants it', async () => {
    const scopes = ['keys:manage', 'generations:write'];
    const manager = apiOf(await createKey({ amount_micros: 500, period: 'month' }, { scopes }));
    const other = await createKey({ amount_micros: 5, period: 'total' }, { scopes: ['generations:write'] });
    const grant = (limits: object) =>
      manager.call<ErrorBody>('POST', '/v1/api_keys', { name: 'x', scopes: ['generations:write'], limits });
    for (const limits of [
      {},
      { budget: { amount_micros: 501, period: 'month' } },
      { budget: { amount_micros: 1, period: 'day' } },
    ]) {
      const { status, body } = await grant(limits);
      expect([status, body.error]).toMatchObject([403, { code: 'insufficient_scope', param: 'limits.budget' }]);
    }
    expect((await grant({ budget: { amount_micros: 500, period: 'month' } })).status).toBe(201);
    expect((await grant({ budget: { amount_micros: 500, period: 'total' } })).status).toBe(201);
    for (const limits of [null, { budget: null }, { budget: { amount_micros: 501, period: 'total' } }]) {
      const { status, body } = await patch(other.id, { limits }, manager);
      expect([status, body.error]).toMatchObject([403, { code: 'insufficient_scope' }]);
    }
    expect((await patch(other.id, { limits: { max_running: 3 } }, manager)).status).toBe(200);
    expect((await keyBody(other.id)).limits.budget).toMatchObject({ amount_micros: 5 });
  });

  it('is reserved by a creation and replaced by the cost at the end', async () => {
    const key = await createKey({ amount_micros: 10 * PICTURE, period: 'day' });
    const api = apiOf(key);
    const { body: hanging } = await api.create({ ...aHang, n: 3 });
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 0, reserved_micros: 3 * PICTURE });
    const { body: failed } = await api.create({ ...aFailure, n: 2 }, { 'idempotency-key': 'one', prefer: 'wait=60' });
    expect(failed.status).toBe('failed');
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 2 * PICTURE, reserved_micros: 3 * PICTURE });
    await api.create({ ...aFailure, n: 2 }, { 'idempotency-key': 'one' });
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 2 * PICTURE, reserved_micros: 3 * PICTURE });
    const { body: made } = await api.create(aCat, { prefer: 'wait=60' });
    expect(made.status).toBe('succeeded');
    const { body: film } = await api.create({ model: 'seedance-2', prompt: '#hang', duration: 4 }); // 800000, which does not fit
    expect(film).toMatchObject({ error: { code: 'budget_exceeded' } });
    await untilSubmitted(hanging);
    await api.cancel(hanging.task_id);
    // A cancel after the submit is assumed to be charged in full, by the price of one picture and three.
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 6 * PICTURE, reserved_micros: 0 });
  });

  it('gets back what a cancelled job cost, when its provider confirms that it never ran', async () => {
    const key = await createKey({ amount_micros: 5 * PICTURE, period: 'month' }, { scopes: ALL });
    const { body: task } = await apiOf(key).create({ ...aHang, n: 4 });
    await untilSubmitted(task);
    await apiOf(key).cancel(task.task_id);
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 4 * PICTURE, reserved_micros: 0 });
    await Promise.all([confirmCancel(task.task_id), confirmCancel(task.task_id)]);
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 0, reserved_micros: 0 });
  });

  it('refuses with 402 and Retry-After to the end of the period, and creates nothing', async () => {
    const day = await createKey({ amount_micros: 2 * PICTURE, period: 'day' });
    const api = apiOf(day);
    expect((await api.create({ ...aHang, n: 2 })).status).toBe(201);
    const files = { ...aHang, reference_images: ['https://example.com/a.png'] };
    for (const headers of [{}, { 'idempotency-key': 'again' }, { 'idempotency-key': 'again' }]) {
      const { status, body, headers: sent } = await api.create<ErrorBody>(files, headers);
      expect(status).toBe(402);
      expect(body.error).toMatchObject({ type: 'budget_error', code: 'budget_exceeded', param: null });
      const left = DAY_S - ((Date.now() / 1000) % DAY_S);
      expect(Math.abs(Number(sent.get('retry-after')) - left)).toBeLessThan(60);
    }
    expect((await query('select 1 from tasks where api_key_id = $1', [day.id])).length).toBe(1);
    expect((await query('select 1 from idempotency_keys where api_key_id = $1', [day.id])).length).toBe(0);

    const total = apiOf(await createKey({ amount_micros: PICTURE - 1, period: 'total' }));
    const refused = await total.create<ErrorBody>(aCat);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([402, null]);

    const graphql = new GraphqlClient(service.baseUrl, day.key);
    const result = await graphql.ask(
      'mutation { createGeneration(input: { model: "gpt-image-2", prompt: "A cat" }) { taskId } }',
    );
    expect(result).toMatchObject({ errors: [{ extensions: { code: 'budget_exceeded', type: 'budget_error' } }] });

    const image = await api.call<ErrorBody>('POST', '/v1/images/generations', { prompt: 'A cat' });
    expect([image.status, image.body.error]).toMatchObject([402, { type: 'budget_error', code: 'budget_exceeded' }]);
    const video = await api.call<ErrorBody>('POST', '/v1/videos', { prompt: 'A cat', model: 'seedance-2' });
    expect([video.status, video.body.error]).toMatchObject([402, { code: 'budget_exceeded' }]);
  });

  it('is filled to the last micro-unit, and not refused for what another request would cost', async () => {
    const key = await createKey({ amount_micros: 7 * PICTURE, period: 'month' });
    const api = apiOf(key);
    // Sent together, so that they share statements. The dear ones never fit, the cheap ones always do.
    const sent = await Promise.all(
      Array.from({ length: 14 }, async (_, nth) => {
        const dear = nth % 2 === 0;
        const headers = nth % 3 === 0 ? { 'idempotency-key': `k${nth}` } : {};
        return { dear, ...(await api.create({ ...aHang, ...(dear && { n: 8 }) }, headers)) };
      }),
    );
    expect(sent.filter(({ dear }) => dear).map(({ status }) => status)).toEqual(Array(7).fill(402));
    expect(sent.filter(({ dear }) => !dear).map(({ status }) => status)).toEqual(Array(7).fill(201));
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 0, reserved_micros: 7 * PICTURE });
    expect((await api.create(aHang)).status).toBe(402);
    await revoke(key.id);
  });

  it('lets unpriced tasks through until it is passed', async () => {
    const key = await createKey({ amount_micros: 0, period: 'day' });
    const { status, body } = await apiOf(key).create(
      { model: 'nano-banana-2', prompt: '#fail:provider_rejected' },
      { prefer: 'wait=60' },
    );
    expect([status, body.usage]).toMatchObject([201, { cost: { amount_micros: 0 } }]);
    expect((await apiOf(key).create(aCat)).status).toBe(402);
  });
});

describe('a key without a budget', () => {
  it('has no row of a budget, and its tasks reserve nothing', async () => {
    const { body: key } = await service.api.call<KeyBody>('POST', '/v1/api_keys', { name: 'free' });
    const { body } = await apiOf(key).create(aFailure, { prefer: 'wait=60' });
    await apiOf(key).create(aFailure, { prefer: 'wait=60', 'idempotency-key': 'k' });
    expect(await query('select 1 from key_budgets where api_key_id = $1', [key.id])).toEqual([]);
    const [task] = await query('select budget_day, reserved_micros from tasks where id = $1', [body.task_id]);
    expect(task).toEqual({ budget_day: null, reserved_micros: null });
  });
});

describe('a change of the budget', () => {
  it('counts at once, also in a process that has cached the key', async () => {
    const key = await createKey({ amount_micros: 5 * PICTURE, period: 'day' });
    const api = apiOf(key);
    expect((await api.create({ ...aHang, n: 3 })).status).toBe(201);
    expect(
      (await patch(key.id, { limits: { budget: { amount_micros: 3 * PICTURE, period: 'day' } } })).body,
    ).toMatchObject({ budget_status: { reserved_micros: 3 * PICTURE } });
    expect((await api.create(aHang)).status).toBe(402);
    await patch(key.id, { limits: { budget: { amount_micros: PICTURE, period: 'month' } } });
    expect((await api.create(aHang)).status).toBe(402);
    expect(await statusOf(key.id)).toMatchObject({ reserved_micros: 3 * PICTURE });
    await patch(key.id, { limits: { budget: { amount_micros: 4 * PICTURE, period: 'total' } } });
    expect((await api.create(aHang)).status).toBe(201);
    expect((await api.create(aHang)).status).toBe(402);
    await revoke(key.id);
  });

  it('to none lets tasks end, and what they cost counts when there is a budget again', async () => {
    const key = await createKey({ amount_micros: 5 * PICTURE, period: 'day' }, { scopes: ALL });
    const api = apiOf(key);
    const { body: first } = await api.create({ ...aHang, n: 2 });
    const { body: changed } = await patch(key.id, { limits: { budget: null } });
    expect([changed.limits.budget, changed.budget_status]).toEqual([null, null]);
    const { body: unbounded } = await api.create({ ...aFailure, n: 10 }, { prefer: 'wait=60' });
    expect(unbounded.usage).toMatchObject({ cost: { amount_micros: 10 * PICTURE } });
    const { body: between } = await api.create({ ...aHang, n: 4 });
    await untilSubmitted(first, between);
    await api.cancel(first.task_id);
    await patch(key.id, { limits: { budget: { amount_micros: 20 * PICTURE, period: 'month' } } });
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 12 * PICTURE, reserved_micros: 0 });
    await api.cancel(between.task_id);
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 16 * PICTURE, reserved_micros: 0 });
    await patch(key.id, { limits: null });
    expect((await keyBody(key.id)).budget_status).toBeNull();
  });

  it('counts what the key has spent before its first budget', async () => {
    const { body: key } = await service.api.call<KeyBody>('POST', '/v1/api_keys', { name: 'free so far', scopes: ALL });
    const { body: task } = await apiOf(key).create({ ...aFailure, n: 3 }, { prefer: 'wait=60' });
    expect(task.status).toBe('failed');
    await patch(key.id, { limits: { budget: { amount_micros: 3 * PICTURE, period: 'total' } } });
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 3 * PICTURE, reserved_micros: 0 });
    expect((await apiOf(key).create(aCat)).status).toBe(402);
  });
});

describe('the end of a period', () => {
  /** Makes yesterday's numbers of what the row and the tasks have counted today. */
  const becomeYesterday = async (id: string) => {
    await query('update key_budgets set day = day - 1 where api_key_id = $1', [id]);
    await query('update tasks_live set budget_day = budget_day - 1 where api_key_id = $1', [id]);
  };

  it('begins the next day at zero, and ends of yesterday change nothing of it', async () => {
    const key = await createKey({ amount_micros: 4 * PICTURE, period: 'day' }, { scopes: ALL });
    const api = apiOf(key);
    const { body: old } = await api.create({ ...aHang, n: 3 });
    await api.create(aFailure, { prefer: 'wait=60' });
    await untilSubmitted(old);
    await becomeYesterday(key.id);
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 0, reserved_micros: 0 });
    const { body: today } = await api.create({ ...aHang, n: 4 });
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 0, reserved_micros: 4 * PICTURE });
    await api.cancel(old.task_id);
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 0, reserved_micros: 4 * PICTURE });
    expect((await api.create(aHang)).status).toBe(402);
    await untilSubmitted(today);
    await api.cancel(today.task_id);
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 4 * PICTURE, reserved_micros: 0 });
    await patch(key.id, { limits: { budget: { amount_micros: 9 * PICTURE, period: 'total' } } });
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 8 * PICTURE, reserved_micros: 0 });
  });

  it('of an unfinished task that ends before the next creation leaves yesterday alone', async () => {
    const key = await createKey({ amount_micros: 4 * PICTURE, period: 'day' }, { scopes: ALL });
    const { body: old } = await apiOf(key).create({ ...aHang, n: 3 });
    await untilSubmitted(old);
    await becomeYesterday(key.id);
    await apiOf(key).cancel(old.task_id);
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 0, reserved_micros: 0 });
    expect((await apiOf(key).create({ ...aHang, n: 4 })).status).toBe(201);
    await revoke(key.id);
  });
});

describe('reservations', () => {
  it('that a process of the last release has left are corrected when the budget is set', async () => {
    const key = await createKey({ amount_micros: 9 * PICTURE, period: 'total' }, { scopes: ALL });
    await apiOf(key).create({ ...aHang, n: 2 });
    const { body: ended } = await apiOf(key).create({ ...aHang, n: 5 });
    await untilSubmitted(ended);
    // As it would end: without a word to the budget.
    await query(END_TASK, [ended.task_id, '{}']);
    expect(await statusOf(key.id)).toMatchObject({ reserved_micros: 7 * PICTURE });
    await patch(key.id, { limits: { budget: { amount_micros: 9 * PICTURE, period: 'total' } } });
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 0, reserved_micros: 2 * PICTURE });
    await revoke(key.id);
  });

  it('of many tasks in one transaction are all or none', async () => {
    const key = await createKey({ amount_micros: 1_000, period: 'day' });
    const made = await Promise.all([1, 2].map(() => apiOf(key).create({ model: 'nano-banana-2', prompt: '#hang' })));
    const tasks = (micros: number) => made.map(({ body }) => ({ id: body.task_id, estimate_micros: micros }));
    const reserve = async (micros: number, id = key.id) => {
      const client = new Client({ connectionString: service.database.url });
      await client.connect();
      try {
        await client.query('begin');
        await reserveForTasks(client, [id], tasks(micros));
        await client.query('commit');
      } finally {
        await client.end();
      }
    };
    await expect(reserve(501)).rejects.toMatchObject({ code: 'budget_exceeded', status: 402 });
    expect(await statusOf(key.id)).toMatchObject({ reserved_micros: 0 });
    await reserve(500);
    expect(await statusOf(key.id)).toMatchObject({ reserved_micros: 1_000 });
    await revoke(key.id);
    await query('update tasks_live set deadline_at = now() where id = any($1)', [made.map(({ body }) => body.task_id)]);
    const left = 'select 1 from key_budgets where api_key_id = $1 and (day_reserved <> 0 or total_reserved <> 0)';
    await eventually('the end of the running tasks', async () => (await query(left, [key.id])).length === 0);
    await reserve(1, 'key_without');
  });

  it('are returned when a key is revoked with its queued tasks', async () => {
    const key = await createKey({ amount_micros: 50 * PICTURE, period: 'day' }, { limits: { max_running: 1, budget: { amount_micros: 50 * PICTURE, period: 'day' } } }); // prettier-ignore
    const tasks = await Promise.all(Array.from({ length: 10 }, () => apiOf(key).create(aHang)));
    expect(tasks.map(({ status }) => status)).toEqual(Array(10).fill(201));
    await revoke(key.id);
    const left = await query(
      `select coalesce(sum(reserved_micros), 0)::int as sum from tasks where api_key_id = $1 and status = 'running'`,
      [key.id],
    );
    const rows = await query('select day_reserved, total_reserved from key_budgets where api_key_id = $1', [key.id]);
    const reserved = String((left[0] as { sum: number }).sum);
    expect(rows).toEqual([{ day_reserved: reserved, total_reserved: reserved }]);
  });

  it('return to zero, and the budget agrees with the ledger, when cancels race with ends', async () => {
    const key = await createKey({ amount_micros: 1_000 * PICTURE, period: 'day' }, { scopes: ALL });
    const api = apiOf(key);
    await Promise.all(
      Array.from({ length: 60 }, async (_, nth) => {
        const { body } = await api.create(
          { ...aFailure, n: 1 + (nth % 3) },
          nth % 2 ? { 'idempotency-key': `${nth}` } : {},
        );
        await Promise.all([api.cancel(body.task_id), nth % 5 ? api.cancel(body.task_id) : remove(api, body)]);
      }),
    );
    const [ledger] = await query('select sum(cost_micros)::int as spent, count(*)::int as tasks from usage_ledger where api_key_id = $1', [key.id]); // prettier-ignore
    expect(ledger).toMatchObject({ tasks: 60 });
    expect(await statusOf(key.id)).toMatchObject({
      spent_micros: (ledger as { spent: number }).spent,
      reserved_micros: 0,
    });
  });
});

const ALL = ['generations:write', 'tasks:read', 'tasks:cancel', 'webhooks:manage'];
const remove = (api: Api, { task_id }: TaskBody) => api.call('DELETE', `/v1/tasks/${task_id}`);
const revoke = (id: string) => service.api.call('DELETE', `/v1/api_keys/${id}`);

async function untilSubmitted(...tasks: TaskBody[]): Promise<void> {
  const ids = tasks.map(({ task_id }) => task_id);
  const submitted = 'select 1 from tasks where id = any($1) and submitted_at is not null';
  await eventually('the submits', async () => (await query(submitted, [ids])).length === ids.length);
}

async function untilServed(ask: () => Promise<{ status: number }>): Promise<number> {
  for (;;) {
    const { status } = await ask();
    if (status !== 503) return status;
  }
}

describe('the first budget of a key', () => {
  it('gets back what a job cost that was cancelled before, when its provider confirms that it never ran', async () => {
    const key = await createKey(undefined, { limits: {} });
    const { task_id } = (await apiOf(key).create(aHang)).body;
    const submitted = 'select 1 from tasks where id = $1 and submitted_at is not null';
    await eventually('the paid call', async () => (await query(submitted, [task_id])).length > 0);
    await apiOf(key).cancel(task_id);
    await patch(key.id, { limits: { budget: { amount_micros: 5 * PICTURE, period: 'total' } } });
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: PICTURE, reserved_micros: 0 });
    await confirmCancel(task_id);
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: 0, reserved_micros: 0 });
  });

  it('counts the cost of a task that ends while it is being set', async () => {
    const key = await createKey(undefined, { limits: {} });
    const api = apiOf(key);
    const { task_id } = (await api.create(aHang)).body;
    const submitted = 'select 1 from tasks where id = $1 and submitted_at is not null';
    await eventually('the paid call', async () => (await query(submitted, [task_id])).length > 0);
    // The change has locked the task, and waits. The end has taken its snapshot, and waits for the task.
    const counters = await LockedRows.of(service.database.url, `key_load where api_key_id = '${key.id}'`);
    // Each gives up after a while, which may be over on a busy machine before the other one waits: both ask again, as clients do.
    const change = untilServed(() =>
      patch(key.id, { limits: { budget: { amount_micros: 5 * PICTURE, period: 'total' } } }),
    );
    await eventually('the change to wait', () => counters.areAwaited());
    const cancel = untilServed(() => api.call('POST', `/v1/tasks/${task_id}/cancel`));
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually('the end to wait', async () => (await query(waiting)).length === 2);
    await counters.release();
    expect(await Promise.all([change, cancel])).toEqual([200, 200]);
    const ledger = await query('select cost_micros::int, basis from usage_ledger where task_id = $1', [task_id]);
    expect(ledger).toEqual([{ cost_micros: PICTURE, basis: 'assumed' }]);
    expect(await statusOf(key.id)).toMatchObject({ spent_micros: PICTURE, reserved_micros: 0 });
  });
});

/** A key that may have so many pictures. */
const keyFor = async (pictures: number, limits: object = {}) => {
  const budget = { amount_micros: pictures * PICTURE, period: 'day' };
  const { status, body } = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', {
    name: 'budgeted',
    limits: { budget, max_running: 1, ...limits },
  });
  expect(status).toBe(201);
  const api = new Api(service.baseUrl, body.key);
  return { id: body.id, api, batches: new BatchClient(api) };
};
const budgetOf = async (id: string) => {
  const { body } = await service.api.get<{ budget_status: { spent_micros: number; reserved_micros: number } }>(
    `/v1/api_keys/${id}`,
  );
  return [body.budget_status.reserved_micros / PICTURE, body.budget_status.spent_micros / PICTURE];
};
const rowsOf = async (id: string) => Number((await query<{ n: string }>('select count(*) as n from tasks where api_key_id = $1', [id]))[0]!.n); // prettier-ignore
const itemsOf = (count: number) => Array.from({ length: count }, () => ({ body: aHang }));

describe('a batch of a key with a budget', () => {
  it('reserves the cost of all its items, which their ends replace', async () => {
    const { id, batches } = await keyFor(10);
    const batch = await batches.of([aCat, aFailure, { ...aHang, n: 2 }]);
    await batches.until(batch.id, 'two items to end', ({ counts }) => counts.succeeded + counts.failed === 2);
    expect(await budgetOf(id)).toEqual([2, 2]);
    await batches.cancel(batch.id);
    await batches.untilEnded(batch.id);
    expect((await budgetOf(id))[0]).toBe(0);
    const [ledger] = await query<{ micros: string }>(
      'select sum(cost_micros) as micros from usage_ledger where api_key_id = $1',
      [id],
    );
    expect((await budgetOf(id))[1]).toBe(Number(ledger!.micros) / PICTURE);
  });

  it('is refused whole with 402 when the budget has no room for all, and stores nothing', async () => {
    const { id, api, batches } = await keyFor(3);
    expect((await api.create(aHang)).status).toBe(201);
    const headers = { 'idempotency-key': 'batch' };
    const refused = await batches.create<ErrorBody>({ requests: itemsOf(3) }, headers);
    expect([refused.status, refused.body.error.code, refused.body.error.type]).toEqual([
      402,
      'budget_exceeded',
      'budget_error',
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await rowsOf(id)).toBe(1);
    expect(await query('select 1 from batches where api_key_id = $1', [id])).toEqual([]);
    expect(await query('select 1 from idempotency_keys where api_key_id = $1', [id])).toEqual([]);
    expect(await query('select queued + running as n, low from key_load where api_key_id = $1', [id])).toEqual([
      { n: 1, low: 0 },
    ]);

    const made = await batches.create({ requests: itemsOf(2) }, headers); // the key was not used up
    expect(made.status).toBe(201);
    expect(await budgetOf(id)).toEqual([3, 0]);
    const replayed = await batches.create({ requests: itemsOf(2) }, headers);
    expect([replayed.status, replayed.body.id]).toEqual([201, made.body.id]);
    expect(await budgetOf(id)).toEqual([3, 0]);
  });

  it('never passes the budget beside other batches and creations', async () => {
    const { id, api, batches } = await keyFor(20);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, nth) =>
        nth % 2 === 0 ? batches.create<BatchBody & ErrorBody>({ requests: itemsOf(4) }) : api.create(aHang),
      ),
    );
    const refused = answers.filter(({ status }) => status === 402);
    expect(answers.filter(({ status }) => status !== 201)).toEqual(refused);
    expect(refused.length).toBeGreaterThan(0);
    const [reserved] = await budgetOf(id);
    expect(reserved).toBe(await rowsOf(id));
    expect(reserved).toBeLessThanOrEqual(20);
    expect(reserved).toBeGreaterThan(16); // a batch of four was refused only when it did not fit
  });

  it('without any price needs no room', async () => {
    const { id, batches } = await keyFor(0);
    const unpriced = { model: 'nano-banana-pro', prompt: '#hang' };
    const batch = await batches.of([unpriced, unpriced]);
    expect(await budgetOf(id)).toEqual([0, 0]);
    expect((await batches.create({ requests: itemsOf(1) })).status).toBe(402);
    await batches.cancel(batch.id);
  });
});

describe('a creation of a key with a budget', () => {
  it.each([{}, { 'idempotency-key': 'x' }])(
    'keeps priority, weight and deadlines, with the headers %j',
    async (headers) => {
      const { id, api } = await keyFor(10, { weight: 20 });
      const running = await api.create(aHang, headers);
      await api.until(running.body.task_id, 'running');
      const low = { ...aHang, priority: 'low' };
      const ids = [];
      for (const [nth, body] of [low, low, aHang].entries()) {
        const key = headers['idempotency-key'] && { 'idempotency-key': `x${nth}` };
        ids.push((await api.create(body, { ...key })).body.task_id);
      }
      expect(await query('select low from key_load where api_key_id = $1', [id])).toEqual([{ low: 2 }]);
      const stored = await query<{ low: boolean; place: number; run_deadline_s: number | null; wait_s: number }>(
        `select low, place::float8, run_deadline_s, extract(epoch from deadline_at - created_at)::int as wait_s
       from tasks where id = any($1) order by id`,
        [ids],
      );
      expect(stored[1]!.place).toBeGreaterThan(stored[0]!.place);
      expect(stored.map((row) => [row.low, row.run_deadline_s, row.wait_s])).toEqual([
        [true, 600, expect.closeTo(86_400, -1)],
        [true, 600, expect.closeTo(86_400, -1)],
        [false, null, expect.closeTo(600, -1)],
      ]);
      expect(await budgetOf(id)).toEqual([4, 0]);

      await service.api.call('DELETE', `/v1/api_keys/${id}`);
      const ended = 'select low, queued from key_load where api_key_id = $1';
      await eventually('the queued tasks to end', async () => (await query<{ queued: number }>(ended, [id]))[0]?.queued === 0); // prettier-ignore
      expect(await query(ended, [id])).toEqual([{ low: 0, queued: 0 }]);
      const day = 'select (day_reserved / $2)::int as reserved from key_budgets where api_key_id = $1';
      expect(await query(day, [id, PICTURE])).toEqual([{ reserved: 1 }]); // the running one goes on
    },
  );

  it('is refused as a retry too', async () => {
    const { id, api } = await keyFor(2);
    const first = await api.create(aFailure, { prefer: 'wait=20' });
    const retry = () => api.call<TaskBody & ErrorBody>('POST', `/v1/tasks/${first.body.task_id}/retry`, {});
    const second = await retry();
    expect(second.status).toBe(201);
    await api.untilFinal(second.body.task_id);
    expect(await budgetOf(id)).toEqual([0, 2]);
    const third = await retry();
    expect([third.status, third.body.error.code]).toEqual([402, 'budget_exceeded']);
    expect(await rowsOf(id)).toBe(2);
  });
});

describe('the webhooks of a budget', () => {
  const EVENTS = ['budget.threshold_reached', 'budget.exceeded'];
  let receiver: Receiver;
  beforeAll(async () => (receiver = await Receiver.start()));
  afterAll(() => receiver.stop());

  async function keyWith(budget: object): Promise<KeyBody & { api: Api; hooks: WebhookClient }> {
    const scopes = ['generations:write', 'tasks:read', 'tasks:cancel', 'webhooks:manage'];
    const { body } = await service.api.call<KeyBody>('POST', '/v1/api_keys', { name: 'x', scopes, limits: { budget } });
    const api = new Api(service.baseUrl, body.key);
    return { ...body, api, hooks: new WebhookClient(api) };
  }

  const eventsOf = (id: string) => receiver.received.filter(({ event }) => event.data.api_key_id === id);
  const stored = async (id: string) =>
    (await queryOnce<{ type: string }>(service.database.url, 'select type from webhook_events where api_key_id = $1 order by id', [id])).map(({ type }) => type); // prettier-ignore

  it('report the threshold and the first refusal once a period, with the state of the budget', async () => {
    const { id, api, hooks } = await keyWith({ amount_micros: 10 * PICTURE, period: 'day', soft_percent: 50 });
    await hooks.endpoint(receiver.url, { events: EVENTS });
    await api.create({ ...aFailure, n: 2 }, { prefer: 'wait=60' });
    await api.create({ ...aHang, n: 2 });
    expect(await stored(id)).toEqual([]);
    await api.create({ ...aHang, n: 1 });
    const [threshold] = await eventually('the threshold', async () => eventsOf(id).length > 0 && eventsOf(id));
    const start = Math.floor(Date.now() / 86_400_000) * 86_400;
    expect(threshold!.event).toMatchObject({ object: 'event', type: 'budget.threshold_reached' });
    expect(threshold!.event.data).toEqual({
      object: 'budget',
      api_key_id: id,
      spent_micros: 2 * PICTURE,
      reserved_micros: 3 * PICTURE,
      period_start: start,
      period_end: start + 86_400,
      amount_micros: 10 * PICTURE,
    });
    const refused = await Promise.all(Array.from({ length: 20 }, () => api.create({ ...aHang, n: 6 })));
    expect(refused.map(({ status }) => status)).toEqual(Array(20).fill(402));
    const exceeded = await eventually('the refusal', async () => eventsOf(id)[1]);
    expect(exceeded.event).toMatchObject({ type: 'budget.exceeded', data: { reserved_micros: 3 * PICTURE } });
    await api.create({ ...aHang, n: 5 });
    expect((await api.create(aHang)).status).toBe(402);
    // A new day begins: what was reported yesterday does not count.
    await queryOnce(
      service.database.url,
      'update key_budgets set day = day - 1, threshold_of = threshold_of - 1, exceeded_of = exceeded_of - 1 where api_key_id = $1',
      [id],
    );
    expect((await api.create({ ...aHang, n: 9 })).status).toBe(201);
    await eventually('the next threshold', async () => eventsOf(id).length === 3);
    expect((await api.create({ ...aHang, n: 9 })).status).toBe(402);
    await eventually('the next refusal', async () => eventsOf(id).length === 4);
    expect(await stored(id)).toEqual([...EVENTS, ...EVENTS]);
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
  });

  it('do not report the threshold of a budget of 0 before anything is spent', async () => {
    const [unspent, spent] = [await keyWith({ amount_micros: PICTURE, period: 'day' }), await keyWith({ amount_micros: PICTURE, period: 'day' })]; // prettier-ignore
    for (const { hooks } of [unspent, spent]) await hooks.endpoint(receiver.url, { events: EVENTS });
    await spent.api.create(aFailure, { prefer: 'wait=60' });
    const limits = { budget: { amount_micros: 0, period: 'day', soft_percent: 50 } };
    for (const { id } of [unspent, spent]) await service.api.call('PATCH', `/v1/api_keys/${id}`, { limits });
    expect((await unspent.api.create(aHang)).status).toBe(402);
    // Both rows are looked at by the same statement, so the second report shows that the first key was passed over.
    await eventually('the report of what was spent', async () => (await stored(spent.id)).length > 0);
    expect(await stored(spent.id)).toEqual(['budget.threshold_reached']);
    expect(await stored(unspent.id)).toEqual(['budget.exceeded']);
  });

  it('are sent to endpoints that name them, and reported again for a changed budget', async () => {
    const { id, api, hooks } = await keyWith({ amount_micros: PICTURE, period: 'month', soft_percent: 99 });
    const unnamed = await hooks.endpoint(receiver.url);
    expect(unnamed.events).toEqual(['task.completed', 'task.failed']);
    expect((await hooks.register({ url: receiver.url, events: ['budget.unknown'] })).status).toBe(400);
    expect((await api.create({ ...aHang, n: 2 })).status).toBe(402);
    await api.create(aFailure, { prefer: 'wait=60' });
    const marked = () => queryOnce(service.database.url, 'select 1 from key_budgets where api_key_id = $1 and threshold_of is not null and exceeded_of is not null', [id]); // prettier-ignore
    await eventually('both reports', async () => (await marked()).length > 0);
    expect(await stored(id)).toEqual(['task.failed']);

    await hooks.endpoint(receiver.url, { events: EVENTS });
    const limits = { budget: { amount_micros: PICTURE + 1, period: 'month', soft_percent: 99 } };
    await service.api.call('PATCH', `/v1/api_keys/${id}`, { limits });
    expect((await api.create(aHang)).status).toBe(402);
    await eventually('both events', async () => eventsOf(id).length === 2);
    expect((await stored(id)).toSorted()).toEqual(['budget.exceeded', 'budget.threshold_reached', 'task.failed']);
  });
});
