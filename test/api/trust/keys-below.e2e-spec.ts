// Own settings: prices.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCOPES } from '../../../src/auth/access/caller.ts';
import type { Sql, Statement } from '../../../src/platform/database/sql.ts';
import { ConfirmCancel } from '../../../src/tasks/sql/confirm-cancel.ts';
import { aFailure, aHang, Api, type ErrorBody, type TaskBody } from '../../support/clients/api.ts';
import { BatchClient } from '../../support/clients/batches.ts';
import { aPicture, FilesClient } from '../../support/clients/files.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

interface KeyBody {
  id: string;
  key: string;
  budget_status: { spent_micros: number; reserved_micros: number } | null;
}

interface Key {
  id: string;
  api: Api;
}

/** One picture. */
const PRICE = 100_000;

const folder = mkdtempSync(join(tmpdir(), 'darkroom-keys-below-'));
const PROVIDERS = join(folder, 'providers.yaml');
writeFileSync(
  PROVIDERS,
  `prices:\n  - { provider: sandbox, model: gpt-image-2, per_image: "0.1", on_failure: full, on_cancel: full }\n`,
);

let service: OwnService;
beforeAll(async () => (service = await startOwnService({ PROVIDERS })));
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const query = <Row>(text: string, values: unknown[] = []) => queryOnce<Row>(service.database.url, text, values);
const newKey = async (by: Api, limits: object = {}): Promise<Key> => {
  const { status, body } = await by.call<KeyBody>('POST', '/v1/api_keys', { name: 'k', scopes: SCOPES, limits });
  expect(status).toBe(201);
  return { id: body.id, api: new Api(service.baseUrl, body.key) };
};
/** A key, and as many as wanted that it has made, all with the same limits. */
const family = async (limits: object, children = 2): Promise<[Key, ...Key[]]> => {
  const maker = await newKey(service.api, limits);
  const made: Key[] = [];
  for (let nth = 0; nth < children; nth += 1) made.push(await newKey(maker.api, limits));
  return [maker, ...made];
};
const total = (pictures: number) => ({ budget: { amount_micros: pictures * PRICE, period: 'total' } });
const budgetOf = async ({ id }: Key) => {
  const { body } = await service.api.get<KeyBody>(`/v1/api_keys/${id}`);
  const { reserved_micros, spent_micros } = body.budget_status!;
  return { reserved: reserved_micros / PRICE, spent: spent_micros / PRICE };
};
const outcome = ({ status, body }: { status: number; body: object }) =>
  status < 300 ? status : [status, (body as ErrorBody).error.code];
const hangs = async ({ api }: Key) => {
  const { task_id } = (await api.create(aHang)).body;
  await api.until(task_id, 'running');
  return task_id;
};
const untilSubmitted = (id: string) =>
  eventually('the paid call', async () => (await query('select 1 from tasks where id = $1 and submitted_at is not null', [id])).length === 1); // prettier-ignore
/** Leaves the workers free for the next test. */
const finish = async (...keys: Key[]) => {
  for (const { id, api } of keys) {
    for (const task of await query<{ id: string }>('select id from tasks_live where api_key_id = $1', [id])) {
      await api.cancel(task.id);
    }
  }
};
const FULL = [402, 'budget_exceeded'];

describe('a budget and the keys that its key has made', () => {
  it('is spent by all of them together, to the last micro-unit', async () => {
    const keys = await family(total(5), 3);
    const lowest = await newKey(keys[1].api, total(5));
    const sent = await Promise.all(
      Array.from({ length: 16 }, async (_, nth) => {
        const { api } = [...keys, lowest][nth % 5]!;
        return outcome(await api.create(aHang, nth % 2 ? { 'idempotency-key': `k${nth}` } : {}));
      }),
    );
    expect(sent.filter((one) => one === 201).length).toBe(5);
    expect(sent.filter((one) => one !== 201)).toEqual(Array.from({ length: 11 }, () => FULL));
    expect(await budgetOf(keys[0])).toEqual({ reserved: 5, spent: 0 });
    await finish(...keys, lowest);
  });

  it('bounds every way to create, and says nothing of the amount', async () => {
    const [maker, child] = await family(total(3), 1);
    await child!.api.create({ ...aHang, n: 2 });
    const two = { requests: [{ body: aHang }, { body: aHang }] };
    for (const { api } of [child!, maker]) {
      expect(outcome(await api.create({ ...aHang, n: 2 }))).toEqual(FULL);
      expect(outcome(await new BatchClient(api).create(two))).toEqual(FULL);
      const pictures = await api.call<ErrorBody>('POST', '/v1/images/generations', { prompt: '#hang', n: 2 });
      expect(outcome(pictures)).toEqual(FULL);
    }
    const narrow = await newKey(maker.api, total(1));
    expect(outcome(await narrow.api.create(aHang))).toBe(201);
    const refused = await child!.api.create<ErrorBody>(aHang);
    expect(refused.body.error.message).toContain('above this API key');
    const { body: estimate } = await child!.api.call<{ within_budget: boolean }>('POST', '/v1/estimates', aHang);
    expect(estimate.within_budget).toBe(false);
    await finish(child!, narrow);
  });

  it('gets back what all are given back', async () => {
    const [maker, child] = await family(total(9), 1);
    const both = async () => [await budgetOf(maker), await budgetOf(child!)];
    const key = { 'idempotency-key': 'once' };
    const failed = { ...aFailure, n: 2 };
    for (let nth = 0; nth < 2; nth += 1) expect((await child!.api.create(failed, key)).status).toBe(201);
    await eventually('the failure', async () => (await budgetOf(child!)).spent === 2);
    expect(await both()).toEqual(Array.from({ length: 2 }, () => ({ reserved: 0, spent: 2 })));

    const submitted = (await child!.api.create({ ...aHang, n: 3 })).body.task_id;
    await untilSubmitted(submitted);
    expect(await both()).toEqual(Array.from({ length: 2 }, () => ({ reserved: 3, spent: 2 })));
    await child!.api.cancel(submitted);
    expect(await both()).toEqual(Array.from({ length: 2 }, () => ({ reserved: 0, spent: 5 })));
    const sql = { run: ({ text }: Statement, values: unknown[]) => query(text, values) } as Sql;
    await new ConfirmCancel(sql).confirm(submitted);
    expect(await both()).toEqual(Array.from({ length: 2 }, () => ({ reserved: 0, spent: 2 })));

    const { body: batch } = await new BatchClient(child!.api).create({
      requests: Array.from({ length: 3 }, () => ({ body: aHang })),
    });
    expect(await both()).toEqual(Array.from({ length: 2 }, () => ({ reserved: 3, spent: 2 })));
    await child!.api.call('POST', `/v1/batches/${batch.id}/cancel`);
    await eventually('the batch to end', async () => (await budgetOf(maker)).reserved === 0);
    expect((await both())[0]).toEqual((await both())[1]);
  });

  it('is given back what was queued by a child that is revoked', async () => {
    const [maker, child] = await family({ ...total(9), max_running: 1 }, 1);
    await hangs(child!);
    for (let nth = 0; nth < 3; nth += 1) await child!.api.create(aHang);
    expect(await budgetOf(maker)).toEqual({ reserved: 4, spent: 0 });
    await service.api.call('DELETE', `/v1/api_keys/${child!.id}`);
    expect(await budgetOf(maker)).toEqual({ reserved: 1, spent: 0 });
    await query('update api_keys set revoked_at = null where id = $1', [child!.id]);
    await eventually('the key to work again', async () => (await child!.api.get('/v1/tasks')).status === 200);
    await finish(child!);
  });

  it('counts what they have spent and reserved before it was set', async () => {
    const [maker, child] = await family({}, 1);
    await child!.api.create({ ...aFailure, n: 2 }, { prefer: 'wait=60' });
    const open = (await child!.api.create({ ...aHang, n: 3 })).body.task_id;
    await service.api.call('PATCH', `/v1/api_keys/${maker.id}`, { limits: total(6) });
    expect((await budgetOf(maker)).spent).toBe(2);
    await untilSubmitted(open);
    await child!.api.cancel(open);
    expect(await budgetOf(maker)).toEqual({ reserved: 0, spent: 5 });
    await eventually('the child to know', async () => outcome(await child!.api.create({ ...aHang, n: 2 })) !== 201);
    expect(outcome(await maker.api.create({ ...aHang, n: 2 }))).toEqual(FULL);
    await finish(child!);
  });

  it('gets back what a job has not cost that was cancelled before it was set', async () => {
    const [maker, child] = await family({}, 1);
    const cancelled = (await child!.api.create({ ...aHang, n: 2 })).body.task_id;
    await untilSubmitted(cancelled);
    await child!.api.cancel(cancelled);
    await service.api.call('PATCH', `/v1/api_keys/${maker.id}`, { limits: total(6) });
    expect(await budgetOf(maker)).toEqual({ reserved: 0, spent: 2 });
    const sql = { run: ({ text }: Statement, values: unknown[]) => query(text, values) } as Sql;
    expect(await new ConfirmCancel(sql).confirm(cancelled)).toBe(true);
    expect(await budgetOf(maker)).toEqual({ reserved: 0, spent: 0 });
  });
});

describe('the queue and the keys that a key has made', () => {
  const BUSY = [429, 'queue_full'];

  it('is as long for all of them together as for the key', async () => {
    const [maker, one, two] = await family({ max_running: 1, max_queued: 2 });
    const running = await hangs(one!);
    for (const { api } of [one!, two!]) expect(outcome(await api.create(aHang))).toBe(201);
    for (const { api } of [one!, two!, maker]) {
      expect(outcome(await api.create(aHang))).toEqual(BUSY);
      expect(outcome(await api.create(aHang, { 'idempotency-key': 'k' }))).toEqual(BUSY);
      expect(outcome(await new BatchClient(api).create({ requests: [{ body: aHang }] }))).toEqual(BUSY);
    }
    await one!.api.cancel(running);
    await eventually('room', async () => outcome(await maker.api.create(aHang)) === 201);
    await finish(one!, two!, maker);
  });

  it('runs as many for all of them together, and the next of any of them when one ends', async () => {
    const [maker, one, two] = await family({ max_running: 1 });
    const first = await hangs(one!);
    const waiting: [Key, TaskBody][] = [];
    for (const key of [two!, maker, one!]) waiting.push([key, (await key.api.create(aHang)).body]);
    const parked = async () => (await query<{ id: string }>('select id from tasks_live where parked and api_key_id = any($1) order by id', [[maker.id, one!.id, two!.id]])).map(({ id }) => id); // prettier-ignore
    const isRunning = async ([{ api }, { task_id }]: [Key, TaskBody]) => (await api.get<TaskBody>(`/v1/tasks/${task_id}`)).body.status === 'running'; // prettier-ignore
    await eventually('the others to be held', async () => (await parked()).length === 3);
    let running: [Key, string] = [one!, first];
    for (const next of waiting) {
      await running[0].api.cancel(running[1]);
      await eventually('the next one to run', () => isRunning(next));
      running = [next[0], next[1].task_id];
      const rows = await query(`select count(*)::int as n from tasks_live where status = 'running' and api_key_id = any($1)`, [[maker.id, one!.id, two!.id]]); // prettier-ignore
      expect(rows).toEqual([{ n: 1 }]);
    }
    await finish(one!, two!, maker);
  });

  it('counts what they have queued and run before the limit was set', async () => {
    const [maker, one, two] = await family({});
    const running = await hangs(one!);
    await service.api.call('PATCH', `/v1/api_keys/${maker.id}`, { limits: { max_running: 1 } });
    await eventually('the child to count for it', async () => {
      const { task_id } = (await two!.api.create(aHang)).body;
      const [row] = await query<{ counts_for: string[] | null }>('select counts_for from tasks_live where id = $1', [task_id]); // prettier-ignore
      return row?.counts_for !== null;
    });
    expect((await query<{ below_running: number }>('select below_running from key_load where api_key_id = $1', [maker.id]))[0]!.below_running).toBeGreaterThan(0); // prettier-ignore
    await one!.api.cancel(running);
    await finish(one!, two!);
  });

  it('has no bound any more once the limits of the key are removed, though processes know them for some seconds', async () => {
    const [maker, child] = await family({ max_running: 1, max_queued: 2 }, 1);
    expect((await child!.api.create(aFailure, { prefer: 'wait=60' })).body.status).toBe('failed');
    const shared = 'select shared_running, shared_queued from key_load where api_key_id = $1';
    expect(await query(shared, [maker.id])).toEqual([{ shared_running: 1, shared_queued: 2 }]);
    await service.api.call('PATCH', `/v1/api_keys/${maker.id}`, { limits: { max_running: null, max_queued: null } });
    expect(outcome(await child!.api.create(aFailure))).toBe(201);
    expect(await query(shared, [maker.id])).toEqual([{ shared_running: 0, shared_queued: 0 }]);
  });

  it('leaves the counters of the key as they were when all have ended', async () => {
    const keys = await family({ max_running: 2, max_queued: 100 }, 3);
    const made = await Promise.all(
      keys.flatMap(({ api }) => Array.from({ length: 4 }, () => api.create(aFailure, { prefer: 'wait=60' }))),
    );
    expect(made.map(({ body }) => body.status)).toEqual(Array(16).fill('failed'));
    const rows = await query('select queued, running, below_queued, below_running from key_load where api_key_id = any($1)', [keys.map(({ id }) => id)]); // prettier-ignore
    expect(rows).toEqual(
      Array.from({ length: 4 }, () => ({ queued: 0, running: 0, below_queued: 0, below_running: 0 })),
    );
  });
});

describe('storage and the keys that a key has made', () => {
  const QUOTA = [403, 'file_quota_exceeded'];

  it('is as large for uploads of all of them together as for the key', async () => {
    const picture = await aPicture(50, 50);
    const [maker, one, two] = await family({ max_file_bytes: Math.floor(picture.length * 2.5) });
    const files = (key: Key) => new FilesClient(key.api);
    const announce = (key: Key, bytes = picture.length) =>
      key.api.call<ErrorBody>('POST', '/v1/files', { filename: 'a.png', bytes, content_type: 'image/png' });
    expect(outcome(await files(one!).upload(picture))).toBe(201);
    const together = await Promise.all([announce(one!), announce(two!), files(two!).upload(picture)]);
    expect(together.map(outcome).filter((one) => one === 201).length).toBe(1);
    for (const key of [maker, two!]) {
      expect(outcome(await announce(key))).toEqual(QUOTA);
      expect(outcome(await files(key).upload(await aPicture(50, 50)))).toEqual(QUOTA);
    }
  });

  it('has as many uploads of all of them together as one key may have', async () => {
    const [maker, one, two] = await family({ max_file_bytes: 1_000_000_000 });
    await query(
      `insert into uploads (id, api_key_id, purpose, status, filename, content_type, bytes, lifetime_s, of_task, expires_at)
       select 'file_' || lpad(n::text, 26, '0'), $1, 'vision', 'pending', 'a.png', 'image/png', 1, 3600, false, now() + interval '1 hour'
       from generate_series(1, 10000) n`,
      [one!.id],
    );
    for (const { api } of [maker, one!, two!]) {
      expect(outcome(await new FilesClient(api).upload(await aPicture(50, 50)))).toEqual(QUOTA);
    }
    await query('delete from uploads where api_key_id = $1', [one!.id]);
  });

  it('is as large for files inside requests of all of them together as for the key', async () => {
    const pictures = await Promise.all([1, 2, 3].map(() => aPicture(50, 50)));
    const largest = Math.max(...pictures.map(({ length }) => length));
    const [maker, one, two] = await family({ max_request_file_bytes: Math.floor(largest * 1.5) });
    const edit = ({ api }: Key, picture: Buffer) =>
      api.create<ErrorBody>({
        ...aFailure,
        reference_images: [`data:image/png;base64,${picture.toString('base64')}`],
      });
    const together = await Promise.all([edit(one!, pictures[0]!), edit(two!, pictures[1]!)]);
    expect(together.map(outcome).filter((one) => one === 201).length).toBe(1);
    for (const key of [maker, two!]) expect(outcome(await edit(key, pictures[2]!))).toEqual(QUOTA);
  });
});

describe('what a key may grant that another one has made', () => {
  it('is within the bounds of the key above, also those that were set later', async () => {
    const [maker, child] = await family({}, 1);
    const free = await newKey(service.api);
    await service.api.call('PATCH', `/v1/api_keys/${maker.id}`, { limits: { max_running: 5, ...total(3) } });
    const change = (limits: object) => child!.api.call('PATCH', `/v1/api_keys/${maker.id}`, { limits });
    const refused = [403, 'insufficient_scope'];
    for (const limits of [{ budget: null }, { max_running: 0 }, { max_running: 6 }]) {
      expect(outcome(await change(limits))).toEqual(refused);
    }
    expect(outcome(await child!.api.call('POST', `/v1/api_keys/${free.id}/rotate`, {}))).toEqual(refused);
    expect(outcome(await change({ max_running: 4 }))).toBe(200);
    const [ending, below] = await family({}, 1);
    const expires_at = Math.floor(Date.now() / 1000) + 86_400;
    await service.api.call('PATCH', `/v1/api_keys/${ending.id}`, { expires_at });
    expect(outcome(await below!.api.call('POST', `/v1/api_keys/${free.id}/rotate`, {}))).toEqual(refused);
  });
});
