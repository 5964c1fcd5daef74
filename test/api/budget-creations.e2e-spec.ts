import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OwnService, startOwnService } from '../support/service.ts';
import { aCat, aFailure, aHang, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { type BatchBody, BatchClient } from '../support/clients/batches.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { eventually } from '../support/wait.ts';

const folder = mkdtempSync(join(tmpdir(), 'darkroom-budget-creations-'));
const PROVIDERS = join(folder, 'providers.yaml');
writeFileSync(
  PROVIDERS,
  'prices: [{ provider: sandbox, model: gpt-image-2, per_image: "0.1", on_cancel: none, on_failure: full }]\n',
);
afterAll(() => rmSync(folder, { recursive: true }));

const PICTURE = 100_000;

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService({ PROVIDERS, TASK_SWEEP_S: '0.2', MAX_RUNNING_PER_KEY: '1' });
});
afterAll(() => service.close());

const query = <Row>(text: string, values: unknown[]) => queryOnce<Row>(service.database.url, text, values);

/** A key that may have so many pictures. */
const keyFor = async (pictures: number, limits: object = {}) => {
  const budget = { amount_micros: pictures * PICTURE, period: 'day' };
  const { status, body } = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', {
    name: 'budgeted',
    limits: { budget, ...limits },
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
    const film = { model: 'seedance-2', prompt: '#hang' };
    const batch = await batches.of([film, film]);
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
      expect(await query('select low, weight from key_load where api_key_id = $1', [id])).toEqual([
        { low: 2, weight: 20 },
      ]);
      const stored = await query<{ low: boolean; priority: number; run_deadline_s: number | null; wait_s: number }>(
        `select low, priority, run_deadline_s, extract(epoch from deadline_at - created_at)::int as wait_s
       from tasks where id = any($1) order by id`,
        [ids],
      );
      // The places of the line: tens over the weight, from 16400 on for low tasks.
      expect(stored.map(({ priority }) => priority)).toEqual([16_400, 16_401, 1]);
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
