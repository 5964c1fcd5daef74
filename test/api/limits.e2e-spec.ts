import { DataSource } from 'typeorm';
import { type ErrorBody, type TaskBody, Api, aFailure, aHang } from '../support/clients/api.ts';
import { Sql } from '../../src/platform/database/sql.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { eventually } from '../support/wait.ts';

describe('limits of a key', () => {
  let service: InProcess;
  beforeAll(async () => (service = await startInProcess()));
  afterAll(() => service.close());

  async function keyWith(limits: object): Promise<Api> {
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'limited', limits });
    return new Api(service.baseUrl, body.key);
  }
  const inState = async (api: Api, status: string) =>
    (await api.get<{ data: TaskBody[] }>(`/v1/tasks?limit=100&status=${status}`)).body.data;

  it('runs at most max_running tasks; the others stay queued and follow in order', async () => {
    const api = await keyWith({ max_running: 2 });
    const made: string[] = [];
    for (let at = 0; at < 5; at += 1) made.push((await api.create(aHang)).body.task_id);
    await eventually('two to run', async () => (await inState(api, 'running')).length === 2);
    expect((await inState(api, 'queued')).map((task) => task.task_id).toSorted()).toEqual(made.slice(2));
    // Parked tasks start in order. Before they are parked, any of them could get the free place.
    await eventually('the rest to be parked', async () => {
      const [row] = await service.app.get(DataSource).query('select count(*)::int as parked from tasks where parked');
      return row.parked === 3;
    });
    await api.cancel(made[0] as string);
    await eventually('the third to run', async () =>
      (await inState(api, 'running')).some((task) => task.task_id === made[2]),
    );
    expect(await inState(api, 'running')).toHaveLength(2);
    for (const id of made) await api.cancel(id);
    expect(await inState(api, 'queued')).toEqual([]);
  });

  it('refuses more than max_queued with 429 queue_full, and stores nothing', async () => {
    const api = await keyWith({ max_running: 1, max_queued: 2 });
    const running = (await api.create(aHang)).body.task_id;
    await api.until(running, 'running');
    await api.create(aHang, { 'idempotency-key': 'q' });
    await api.create(aHang);
    const { status, headers, body } = await api.create<ErrorBody>(aHang);
    expect([status, body.error.code, body.error.type]).toEqual([429, 'queue_full', 'rate_limit_error']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await inState(api, 'queued')).toHaveLength(2);
    expect((await api.create(aHang, { 'idempotency-key': 'q' })).headers.get('idempotent-replayed')).toBe('true');
    for (const task of [...(await inState(api, 'queued')), ...(await inState(api, 'running'))])
      await api.cancel(task.task_id);
    expect((await api.create(aFailure, { prefer: 'wait=20' })).body.status).toBe('failed');
  });

  it('counts creates and reads per minute, and reports it in headers', async () => {
    const api = await keyWith({ creates_per_minute: 2, reads_per_minute: 3 });
    const first = await api.create(aFailure);
    expect(first.headers.get('ratelimit-policy')).toBe('"create";q=2;w=60');
    expect(first.headers.get('ratelimit')).toMatch(/^"create";r=1;t=\d+$/);
    await api.create(aFailure);
    const third = await api.create<ErrorBody>(aFailure);
    expect([third.status, third.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    for (let at = 0; at < 3; at += 1) expect((await api.get('/v1/models')).status).toBe(200);
    expect((await api.get('/v1/models')).status).toBe(429);
  });

  it("does not let one key's backlog delay another's single task", async () => {
    const [busy, quiet] = [await keyWith({ max_running: 0 }), await keyWith({})];
    const backlog = await Promise.all(
      Array.from({ length: 300 }, () =>
        busy.create({ ...aFailure, prompt: '#fail:internal_error #delay:3' }).then(({ body }) => body.task_id),
      ),
    );
    const { body } = await quiet.create(aFailure);
    await quiet.untilFinal(body.task_id);
    const [{ before, after }] = await service.app.get(DataSource).query(
      `select count(*) filter (where t.started_at <= q.started_at)::int as before,
              count(*) filter (where t.started_at is null or t.started_at > q.started_at)::int as after
         from tasks t, tasks q where t.id = any($1) and q.id = $2`,
      [backlog, body.task_id],
    );
    process.stdout.write(`${JSON.stringify({ backlog: backlog.length, began_before: before, after })}\n`);
    expect(after).toBeGreaterThan(100);
    await Promise.all(backlog.map((id) => busy.cancel(id)));
  });

  it('a process that stops inside a transaction blocks its key for seconds, not forever', async () => {
    const api = await keyWith({});
    const { body } = await api.create(aFailure);
    await api.untilFinal(body.task_id);
    const [locked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const standing = service.app.get(Sql).transaction(async (tx) => {
      await tx.query(
        'select from key_load where api_key_id = (select api_key_id from tasks where id = $1) for update',
        [body.task_id],
      );
      locked.resolve();
      await gate.promise;
    });
    standing.catch(() => undefined);
    await locked.promise;
    const statuses: number[] = [];
    try {
      await eventually('a create to be accepted', async () => {
        statuses.push((await api.create(aFailure)).status);
        return statuses.at(-1) === 201;
      });
    } finally {
      gate.resolve();
    }
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set([503]));
    await expect(standing).rejects.toThrow(/onnection/);
  });
});
