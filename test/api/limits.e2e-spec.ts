import { newApiKey } from '../../src/auth/credentials/api-key-format.ts';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { createDataSource, SESSION_SETTINGS } from '../../src/platform/database/data-source.ts';
import type { ApiError } from '../../src/errors/api-error.ts';
import type { Caller, RateBucket } from '../../src/auth/access/caller.ts';
import { RateLimits } from '../../src/auth/limits/rate-limits.ts';
import { Sql, type Statement } from '../../src/platform/database/sql.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type ErrorBody, type TaskBody, Api, aFailure, aHang } from '../support/clients/api.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { joinService, type SharedService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

describe('limits of a key', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
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
      return (await queryOnce(service.database.url, 'select 1 from tasks where id = any($1) and parked', [made])).length === 3; // prettier-ignore
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

  it('of creates and of reads per minute are in the headers of every reply; more gets 429 and Retry-After', async () => {
    const api = await keyWith({ creates_per_minute: 2, reads_per_minute: 3 });
    const replies = [];
    for (let nth = 0; nth < 3; nth += 1) replies.push(await api.create<ErrorBody>(aFailure));
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 429]);
    expect(replies.map(({ headers }) => headers.get('ratelimit-policy'))).toEqual(Array(3).fill('"create";q=2;w=60'));
    expect(replies.map(({ headers }) => headers.get('ratelimit'))).toEqual([
      expect.stringMatching(/^"create";r=1;t=\d+$/),
      expect.stringMatching(/^"create";r=0;t=\d+$/),
      expect.stringMatching(/^"create";r=0;t=\d+$/),
    ]);
    expect(replies[2]!.body.error).toMatchObject({ code: 'rate_limit_exceeded', type: 'rate_limit_error' });
    expect(replies[2]!.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    const read = await api.get('/v1/models');
    expect([read.status, read.headers.get('ratelimit-policy')]).toEqual([200, '"read";q=3;w=60']);
  });

  it('of requests count each key separately, refused requests included, and nothing where the limit is 0', async () => {
    const [limited, free] = [await keyWith({ reads_per_minute: 1 }), await keyWith({ reads_per_minute: 0 })];
    expect((await limited.get('/v1/models')).status).toBe(200);
    expect((await limited.get('/v1/models')).status).toBe(429);
    const { status, headers } = await free.get('/v1/models');
    expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([200, null, null]);
    const unknown = await new Api(service.baseUrl, newApiKey()).get('/v1/models');
    expect([unknown.status, unknown.headers.get('ratelimit')]).toEqual([401, null]);
  });

  it('a process that stops inside a transaction blocks its key for seconds, not forever', async () => {
    const api = await keyWith({});
    const { body } = await api.create(aFailure);
    await api.untilFinal(body.task_id);
    const stopped = new Client({ ...SESSION_SETTINGS, connectionString: service.database.url });
    stopped.on('error', () => undefined);
    await stopped.connect();
    await stopped.query('begin');
    await stopped.query(
      'select from key_load where api_key_id = (select api_key_id from tasks where id = $1) for update',
      [body.task_id],
    );
    const statuses: number[] = [];
    await eventually('a create to be accepted', async () => {
      statuses.push((await api.create(aFailure)).status);
      return statuses.at(-1) === 201;
    });
    expect(statuses.length).toBeGreaterThan(1);
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set([503]));
    await expect(stopped.query('commit')).rejects.toThrow(/onnection/);
    await stopped.end().catch(() => undefined);
  });
});

/** Counts the statements, and fails them while `isAway`. */
class CountedSql extends Sql {
  statements = 0;
  isAway = false;

  override run<Row>(statement: Statement, values: unknown[]): Promise<Row[]> {
    this.statements += 1;
    if (this.isAway) return Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    return super.run<Row>(statement, values);
  }
}

describe('rates of several processes on one database', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let nextKey = 0;
  beforeAll(async () => {
    database = await cloneDatabase();
    dataSource = await createDataSource(database.url).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** The rate limits of `count` processes, which share only the database. */
  function processes(count: number) {
    return Array.from({ length: count }, () => {
      const sql = new CountedSql(dataSource);
      return { sql, limits: new RateLimits(sql) };
    });
  }
  const caller = (limit: number, apiKeyId = `key_${(nextKey += 1)}`): Caller => ({
    apiKeyId,
    scopes: [],
    hasBudget: false,
    limits: {
      createsPerMinute: limit,
      readsPerMinute: limit,
      maxRunning: 0,
      maxFileBytes: 0,
      maxRequestFileBytes: 0,
      maxKeptBytes: 0,
      taskRetentionDays: 30,
      fileRetentionDays: 7,
      maxQueued: 0,
      weight: 10,
    },
  });
  /** Counts one request. @returns its headers, or the error of a refused one */
  const count = async ({ limits }: { limits: RateLimits }, who: Caller, bucket: RateBucket = 'read') => {
    const headers = await Promise.resolve(limits.count(who, bucket)).catch((error: ApiError) => error);
    return { headers: headers as Record<string, string>, admitted: !(headers instanceof Error) };
  };
  const admitted = (answers: { admitted: boolean }[]) => answers.filter((answer) => answer.admitted).length;
  /** Sends `rounds` volleys of concurrent requests, each spread over all processes. */
  async function volleys(rounds: number, size: number, all: ReturnType<typeof processes>, who: Caller) {
    let sum = 0;
    for (let round = 0; round < rounds; round += 1) {
      const volley = Array.from({ length: size }, (_, nth) => count(all[(round + nth) % all.length]!, who));
      sum += admitted(await Promise.all(volley));
    }
    return sum;
  }

  it.each([1, 5, 60, 600])('admit exactly %i requests in total, in any order of processes', async (limit) => {
    expect(await volleys(10, Math.max(4, limit / 5), processes(4), caller(limit))).toBe(limit);
  });

  it('report the remaining requests, exactly for one process', async () => {
    const [one] = processes(1);
    const who = caller(3);
    const sent = [];
    for (let nth = 0; nth < 3; nth += 1) sent.push((await count(one!, who, 'create')).headers);
    expect(sent).toEqual(
      [2, 1, 0].map((left) => ({
        'ratelimit-policy': '"create";q=3;w=60',
        ratelimit: expect.stringMatching(new RegExp(`^"create";r=${left};t=\\d+$`)),
      })),
    );
    await expect(one!.limits.count(who, 'create')).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      headers: { 'retry-after': expect.stringMatching(/^\d+$/), ratelimit: expect.stringContaining('r=0;') },
    });
    expect((await count(one!, who, 'read')).admitted).toBe(true); // a separate limit
  });

  it('query the database once for all waiting requests, and never again for an exhausted window', async () => {
    const [one] = processes(1);
    const who = caller(40);
    expect(admitted(await Promise.all(Array.from({ length: 40 }, () => count(one!, who))))).toBe(40);
    expect(one!.sql.statements).toBe(1);
    await count(one!, who);
    const asked = one!.sql.statements;
    await volleys(2, 5, [one!], who);
    expect(one!.sql.statements).toBe(asked);
  });

  it('query many keys in one statement', async () => {
    const [one] = processes(1);
    const answers = await Promise.all(Array.from({ length: 30 }, () => count(one!, caller(5))));
    expect([admitted(answers), one!.sql.statements]).toEqual([30, 1]);
  });

  it('a limit of 0 runs no query and sends no header', async () => {
    const [one] = processes(1);
    expect(await one!.limits.count(caller(0), 'read')).toBeNull();
    expect(one!.sql.statements).toBe(0);
  });

  it('start a new window when the old one is over, by the clock of the database', async () => {
    const who = caller(2);
    const windowOf = (bucket: RateBucket, ends: string) =>
      dataSource.query(`insert into rate_windows values ($1, $2, now() + $3::interval, 2)`, [
        who.apiKeyId,
        bucket,
        ends,
      ]);
    await windowOf('create', '1 second'); // this process sees its end
    await windowOf('read', '1 hour'); // but not the end of this one
    const [one, two] = processes(2);
    await eventually('the new window', async () => (await count(one!, who, 'create')).admitted);
    expect((await count(one!, who)).admitted).toBe(false);
    await dataSource.query(`update rate_windows set ends_at = now() where api_key_id = $1 and bucket = 'read'`, [
      who.apiKeyId,
    ]);
    expect(await volleys(2, 4, [two!], who)).toBe(2);
    const rows = await dataSource.query('select bucket from rate_windows where api_key_id = $1', [who.apiKeyId]);
    expect(rows).toHaveLength(2); // the rows are reused
  });

  it('count per process while the database is away, and together afterwards', async () => {
    const [one, two] = processes(2);
    const who = caller(100);
    const before = await volleys(1, 10, [one!], who);
    one!.sql.isAway = true;
    const away = await volleys(3, 10, [one!], who);
    expect([before, away]).toEqual([10, 30]);
    one!.sql.isAway = false;
    const after = (await volleys(5, 30, [one!], who)) + (await volleys(5, 30, [two!], who));
    expect(before + away + after).toBe(100);

    const other = caller(7);
    one!.sql.isAway = true;
    expect(await volleys(3, 10, [one!], other)).toBe(7);
  });
});
