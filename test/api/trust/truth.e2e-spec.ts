// The API runs inside Jest, because a test moves its clock, and a storage refuses to delete
// some folders. The other worker is a process.
import { HOUR_MS } from '../../../src/platform/schema/time.ts';
import { newTaskId } from '../../../src/tasks/record/task-id.ts';
import { aFailure, aHang, Api, type ErrorBody, type TaskBody } from '../../support/clients/api.ts';
import { startInProcess, type InProcess } from '../../support/in-process.ts';
import { LockedRows } from '../../support/faults/locked-rows.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { Client } from 'pg';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskStorage } from '../../../src/platform/storage/disk.storage.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';

let service: InProcess;
/** Starts in the second test. */
let worker: OwnService | undefined;
beforeAll(async () => (service = await startInProcess({ ROLE: 'api' })));
afterAll(async () => {
  await worker?.close();
  await service.close();
});

const sql = <Row>(text: string, values: unknown[] = []) => queryOnce<Row>(service.database.url, text, values);

async function newKey(limits: object = {}): Promise<{ id: string; api: Api }> {
  const { body } = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', { name: 'k', limits });
  return { id: body.id, api: new Api(service.baseUrl, body.key) };
}

describe('a worker that has just started', () => {
  const insertRunning = async (lease: string): Promise<string> => {
    const { id: apiKeyId } = await newKey();
    const id = newTaskId();
    await sql(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, created_at, started_at, expires_at, deadline_at, attempt, waits, lease_until)
       values ($1, $2, 'image', 'gpt-image-2', 'running', '{"prompt":"#hang"}', now(), now(), now() + interval '1 day',
               now() + interval '1 hour', 1, false, ${lease})`,
      [id, apiKeyId],
    );
    return id;
  };
  const attemptsOf = async (...ids: string[]) => {
    const read = 'select attempt from tasks where id = any($1) order by array_position($1, id)';
    return (await sql<{ attempt: number }>(read, [ids])).map(({ attempt }) => attempt);
  };

  it('leaves expired leases to their workers at first, and takes released tasks at once', async () => {
    const [expired, released] = [await insertRunning(`now() - interval '1 s'`), await insertRunning(`'1970-01-01'`)];
    const { DATA_DIR, SECRET_KEY } = service.env as { DATA_DIR: string; SECRET_KEY: string };
    worker = await startOwnService({ ROLE: 'worker', DATA_DIR, SECRET_KEY }, service.database);
    // The claim that took the one has left the other.
    const attempts = await eventually('the released task to be taken', async () => {
      const both = await attemptsOf(released, expired);
      return both[0] === 2 && both;
    });
    expect(attempts).toEqual([2, 1]);
  });

  it('takes over no task that it still runs itself', async () => {
    const { api } = await newKey();
    const { body } = await api.create(aHang);
    await api.until(body.task_id, 'running');
    await sql(`update tasks_live set lease_until = '1970-01-01' where id = $1`, [body.task_id]);
    const released = await insertRunning(`'1970-01-01'`);
    await eventually('another released task to be taken', async () => (await attemptsOf(released))[0] === 2);
    expect(await attemptsOf(body.task_id)).toEqual([1]);
    for (const id of [body.task_id, released])
      await sql(`update tasks_live set deadline_at = now() where id = $1`, [id]);
  });
});

describe('a creation answered 201', () => {
  it.each([{}, { 'idempotency-key': 'again' }])(
    'is stored, also after the counters of its key were lost (%j)',
    async (headers) => {
      const { id, api } = await newKey();
      expect((await api.create(aFailure)).status).toBe(201);
      await sql('delete from key_load where api_key_id = $1', [id]);
      const { status, body } = await api.create(aFailure, headers);
      expect(status).toBe(201);
      expect((await api.get(`/v1/tasks/${body.task_id}`)).status).toBe(200);
    },
  );

  it('is refused to twins of a refused creation with the same answer', async () => {
    const { api } = await newKey({ max_running: 1, max_queued: 1 });
    await api.until((await api.create(aHang)).body.task_id, 'running');
    await api.create(aHang);
    const twins = await Promise.all(
      Array.from({ length: 6 }, () => api.create<ErrorBody>(aHang, { 'idempotency-key': 'twin' })),
    );
    expect(twins.map(({ body }) => body.error.code)).toEqual(twins.map(() => 'queue_full'));
  });
});

describe('a locked row of one key', () => {
  it('delays the creations of that key alone', async () => {
    const [locked, free] = [await newKey(), await newKey()];
    for (const { api } of [locked, free]) expect((await api.create(aFailure)).status).toBe(201);
    const held = await LockedRows.of(service.database.url, `key_load where api_key_id = '${locked.id}'`);
    try {
      const stuck = Promise.all([locked.api.create(aFailure), locked.api.create(aFailure, { 'idempotency-key': 'x' })]);
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, at) =>
          free.api.create(aFailure, at % 2 ? { 'idempotency-key': `key-${at}` } : {}),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
      for (const { status } of await stuck) expect([201, 503]).toContain(status);
    } finally {
      await held.release();
    }
  });
});

describe('a locked row of one key, for workers', () => {
  const insertWaiting = (apiKeyId: string, countsFor: string[] | null, count: number) =>
    sql(
      `insert into tasks_live (id, api_key_id, counts_for, kind, model, status, input, created_at, expires_at, deadline_at)
       select 'task_' || lpad(nth::text, 26, '0'), $1, $3, 'image', 'gpt-image-2', 'queued', '{"prompt":"#hang"}', now(),
              now() + interval '1 day', now() + interval '10 minutes' from generate_series(1, $2::int) as nth`,
      [apiKeyId, count, countsFor],
    );

  it.each([
    ['', false],
    [' that counts the tasks of another one', true],
  ])('does not keep the tasks of other keys from being claimed%s', async (_, isAbove) => {
    const [locked, below, free] = [await newKey(), await newKey(), await newKey()];
    for (const { api } of [locked, below, free]) expect((await api.create(aFailure)).status).toBe(201);
    const held = await LockedRows.of(service.database.url, `key_load where api_key_id = '${locked.id}'`);
    try {
      await (isAbove ? insertWaiting(below.id, [locked.id], 200) : insertWaiting(locked.id, null, 200));
      const { body } = await free.api.create(aFailure);
      expect((await free.api.untilFinal(body.task_id)).status).toBe('failed');
      expect((await free.api.get('/readyz')).status).toBe(200);
      const parked = 'select 1 from tasks where parked and api_key_id = any($1)';
      expect(await sql(parked, [[locked.id, below.id, free.id]])).toEqual([]);
    } finally {
      await held.release();
      await sql(`delete from tasks_live where api_key_id = any($1)`, [[locked.id, below.id]]);
    }
  });

  it('does not keep the tasks of other keys from ending', async () => {
    const keys = await Promise.all([newKey(), newKey()]);
    const ids = await Promise.all(
      keys.map(async ({ api }) => {
        const { body } = await api.create(aHang);
        await api.until(body.task_id, 'running');
        return body.task_id;
      }),
    );
    const held = await LockedRows.of(service.database.url, `key_load where api_key_id = '${keys[0].id}'`);
    try {
      const [locked, free] = await Promise.all(keys.map(({ api }, at) => api.cancel(ids[at]!)));
      expect([locked!.status, free!.status]).toEqual([503, 200]);
    } finally {
      await held.release();
    }
    expect((await keys[0].api.cancel(ids[0]!)).body.status).toBe('failed');
  });
});

describe('the times of a task', () => {
  it('are those of the database, whatever the clock of the process', async () => {
    const realNow = Date.now;
    Date.now = () => realNow() + HOUR_MS;
    let body: TaskBody;
    try {
      ({ body } = await service.api.create(aHang, { 'idempotency-key': 'skewed' }));
    } finally {
      Date.now = realNow;
    }
    const [row] = await sql<{ age: number; expires_at: number; key_s: number }>(
      `select extract(epoch from now() - t.created_at)::float8 as age, floor(extract(epoch from t.expires_at))::float8 as expires_at,
              extract(epoch from k.expires_at - now())::float8 as key_s
       from tasks t join idempotency_keys k on k.task_id = t.id where t.id = $1`,
      [body.task_id],
    );
    expect(row!.age).toBeGreaterThan(-1);
    expect(row!.age).toBeLessThan(60);
    expect(Math.abs(row!.key_s - 24 * 3_600)).toBeLessThan(60);
    expect(body.expires_at).toBe(row!.expires_at);
    expect(body.expires_at).toBe(body.created_at + 30 * 24 * 3_600);
  });

  it('count the deadline from the first start', async () => {
    const { api } = await newKey({ max_running: 1 });
    const first = (await api.create(aHang)).body.task_id;
    await api.until(first, 'running');
    const second = (await api.create(aHang)).body.task_id;
    // A minute is left, in which it must start.
    await sql(`update tasks_live set created_at = created_at - interval '9 min', deadline_at = deadline_at - interval '9 min' where id = $1`, [second]); // prettier-ignore
    await api.cancel(first);
    await api.until(second, 'running');
    const [row] = await sql<{ run: number; total: number }>(
      `select extract(epoch from deadline_at - started_at)::float8 as run, extract(epoch from deadline_at - created_at)::float8 as total
       from tasks where id = $1`,
      [second],
    );
    expect(row!.run).toBeCloseTo(600, 0);
    expect(row!.total).toBeGreaterThan(1_100);
  });
});

it('a task without rows of its key ends and frees nothing twice', async () => {
  const { id, api } = await newKey({ max_running: 2 });
  const { body } = await api.create(aHang);
  await api.until(body.task_id, 'running');
  await api.cancel(body.task_id);
  const [row] = await sql<{ running: number; queued: number }>(
    'select running, queued from key_load where api_key_id = $1',
    [id],
  );
  expect(row).toEqual({ running: 0, queued: 0 });
});

const TASKS = 600;
const retainedId = (nth: number) => `task_${String(nth).padStart(26, '0')}`;

describe('retention', () => {
  let worker: InProcess;
  let cloned: TestDatabase;
  let database: Client;
  const dataDir = mkdtempSync(join(tmpdir(), 'darkroom-retention-'));
  const { deleteAll } = DiskStorage.prototype;

  beforeAll(async () => {
    cloned = await cloneDatabase();
    database = new Client({ connectionString: cloned.url });
    await database.connect();
    await database.query(
      `insert into tasks_done (id, api_key_id, kind, model, status, input, created_at, completed_at, deadline_at, expires_at, files_expire_at)
       select 'task_' || lpad(nth::text, 26, '0'), 'key_1', 'image', 'gpt-image-2', 'succeeded', '{}', now(), now(), now(),
              case when nth <= $1 / 2 then now() + interval '1 day' else now() - interval '1 day' end,
              now() - interval '2 days' + make_interval(secs => nth)
       from generate_series(1, $1::int) as nth`,
      [TASKS],
    );
    await database.query(
      `insert into idempotency_keys (api_key_id, key, request_hash, task_id, response, expires_at)
       select 'key_1', nth::text, '', 'task_1', '', now() - interval '1 s' from generate_series(1, 12000) as nth`,
    );
    await database.query(
      `insert into key_load (api_key_id, queued, running) values ('key_gone', 0, 0), ('key_busy', 1, 0), ('key_1', 0, 0)`,
    );
    await database.query(
      `insert into rate_windows (api_key_id, bucket, ends_at, taken)
       values ('key_gone', 'read', now() - interval '1 hour', 1), ('key_busy', 'read', now() + interval '1 minute', 1)`,
    );
  });
  afterAll(async () => {
    DiskStorage.prototype.deleteAll = deleteAll;
    await database.end();
    await worker.close();
    await cloned.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const count = async (query: string) => Number((await database.query(`select count(*) from ${query}`)).rows[0].count);

  it('passes over a task whose files cannot be deleted, reports it, and deletes everything else', async () => {
    const folder = join(dataDir, 'files', retainedId(2));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '1-0.png'), 'a picture');
    DiskStorage.prototype.deleteAll = async function (this: DiskStorage, prefix) {
      if (prefix === `${retainedId(1)}/` || prefix === `${retainedId(TASKS)}/`)
        throw new Error('The folder is read-only.');
      await deleteAll.call(this, prefix);
    };
    worker = await startInProcess({ ROLE: 'worker', DATA_DIR: dataDir }, cloned);
    await eventually('the files to be purged', async () => (await count('tasks where not files_purged')) === 2);
    await eventually('the tasks to be deleted', async () => (await count('tasks')) === TASKS / 2 + 1);
    await eventually('the idempotency keys to be deleted', async () => (await count('idempotency_keys')) === 0);
    const kept = async (table: string) =>
      (await database.query(`select api_key_id from ${table} where api_key_id ~ '^key_(gone|busy|1)$' order by 1`))
        .rows;
    await eventually('idle counters to be deleted', async () => (await kept('key_load')).length === 2);
    expect(await kept('key_load')).toEqual([{ api_key_id: 'key_1' }, { api_key_id: 'key_busy' }]);
    await eventually('ended rate windows to be deleted', async () => (await kept('rate_windows')).length === 1);
    expect(await kept('rate_windows')).toEqual([{ api_key_id: 'key_busy' }]);
    expect(existsSync(folder)).toBe(false);
    await eventually('the metric', async () => {
      const metrics = await (await fetch(`${worker.baseUrl}/metrics`)).text();
      return Number(/^darkroom_purge_lag_seconds\{what="files"\} (\S+)$/m.exec(metrics)?.[1]) > 86_400;
    });
  });
});
