import { Api, type ErrorBody } from '../support/clients/api.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { count, QueuedDeployment } from '../support/queued-deployment.ts';
import { eventually } from '../support/wait.ts';

const LOW = { priority: 'low' };

describe('the weight of an API key', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  const made = async (limits: object) => (await anotherKey(service.api, { limits })).id;
  const patch = <Body>(id: string, limits: object | null) =>
    service.api.call<Body>('PATCH', `/v1/api_keys/${id}`, { limits });
  const weightOf = async (id: string) =>
    (await service.api.get<{ limits: { weight: number } }>(`/v1/api_keys/${id}`)).body.limits.weight;

  it('is 10 unless its limits say otherwise, and null makes it 10 again', async () => {
    expect(await weightOf(await made({}))).toBe(10);
    const id = await made({ weight: 20 });
    expect(await weightOf(id)).toBe(20);
    await patch(id, { weight: 100 });
    expect(await weightOf(id)).toBe(100);
    await patch(id, { weight: null });
    expect(await weightOf(id)).toBe(10);
  });

  it.each([
    [0, 'value_out_of_range'],
    [101, 'value_out_of_range'],
    [1.5, 'invalid_type'],
    ['20', 'invalid_type'],
  ])('is refused when it is %j', async (weight, code) => {
    const created = await service.api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'x', limits: { weight } });
    expect([created.status, created.body.error.code, created.body.error.param]).toEqual([400, code, 'limits.weight']);
    const id = await made({ weight: 7 });
    const { status, body } = await patch<ErrorBody>(id, { weight });
    expect([status, body.error.code, body.error.param]).toEqual([400, code, 'limits.weight']);
    expect(await weightOf(id)).toBe(7);
  });

  it('takes keys:manage, and a key of a weight of its own grants no more', async () => {
    const id = await made({});
    const plain = new Api(service.baseUrl, (await anotherKey(service.api)).key);
    const refused = await plain.call<ErrorBody>('PATCH', `/v1/api_keys/${id}`, { limits: { weight: 100 } });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope']);
    const scopes = ['generations:write', 'tasks:read', 'tasks:cancel', 'webhooks:manage', 'keys:manage'];
    const manager = new Api(service.baseUrl, (await anotherKey(service.api, { scopes, limits: { weight: 20 } })).key);
    const more = await manager.call<ErrorBody>('PATCH', `/v1/api_keys/${id}`, { limits: { weight: 21 } });
    expect([more.status, more.body.error.param]).toEqual([403, 'limits.weight']);
    expect((await manager.call('PATCH', `/v1/api_keys/${id}`, { limits: { weight: 20 } })).status).toBe(200);
  });
});

describe('the starts of several API keys', () => {
  let deployment: QueuedDeployment;
  beforeAll(async () => (deployment = await QueuedDeployment.start()));
  afterEach(() => deployment.clear());
  afterAll(() => deployment.close());

  it.each([
    ['normal', {}],
    ['low', LOW],
  ])('are in the ratio of the weights while all have tasks that wait: %s priority', async (_priority, body) => {
    const keys = await Promise.all([10, 20, 5].map((weight) => deployment.keyWith({ weight })));
    for (const [at, api] of keys.entries())
      await deployment.create(42, ['ten', 'twenty', 'five'][at]!, { api, ...body });
    await deployment.work();
    const early = (await deployment.startOrder()).slice(0, 70);
    const [ten, twenty, five] = ['ten', 'twenty', 'five'].map((name) => count(early, name)) as [number, number, number];
    expect(Math.abs(twenty - 40)).toBeLessThanOrEqual(2);
    expect(Math.abs(ten - 20)).toBeLessThanOrEqual(2);
    expect(Math.abs(five - 10)).toBeLessThanOrEqual(2);
  });

  it('take turns without weights', async () => {
    const keys = await Promise.all(['a', 'b', 'c'].map(() => deployment.keyWith()));
    for (const [at, api] of keys.entries()) await deployment.create(6, 'abc'[at]!, { api });
    await deployment.work();
    expect((await deployment.startOrder()).join('')).toBe('abc'.repeat(6));
  });

  it('do not depend on the tasks of low priority that a key has', async () => {
    const [batch, single] = await Promise.all([deployment.keyWith(), deployment.keyWith()]);
    await deployment.create(30, 'l', { api: batch, ...LOW });
    await deployment.create(3, 's', { api: single });
    await deployment.create(3, 'b', { api: batch });
    await deployment.work({ LOW_PRIORITY_SHARE: '0' });
    expect((await deployment.startOrder()).slice(0, 6).join('')).toBe('sbsbsb');
  });

  it('are in the ratio of the weights among tasks that have waited for long, too', async () => {
    const [ten, twenty] = await Promise.all([10, 20].map((weight) => deployment.keyWith({ weight })));
    await deployment.create(30, 'ten', { api: ten! });
    await deployment.create(30, 'twenty', { api: twenty! });
    await deployment.create(5, 'new', { api: await deployment.keyWith() });
    await deployment.database.query(
      `update tasks set created_at = created_at - interval '2 minutes' where metadata->>'name' <> 'new'`,
    );
    const sweeper = { WORKER_CONCURRENCY: '1', TASK_SWEEP_S: '0.1' };
    await deployment.create(1, 'hang', { prompt: '#hang', api: await deployment.keyWith() });
    await deployment.database.query(`update tasks set priority = -100 where metadata->>'name' = 'hang'`);
    await deployment.work(sweeper); // it sweeps while its only place is taken
    await eventually('the old tasks to move', async () => (await deployment.rows('priority between -11 and -1')).length === 30); // prettier-ignore
    const { rows } = await deployment.database.query(`select id from tasks where metadata->>'name' = 'hang'`);
    const hanging = rows[0].id;
    await deployment.database.query(`update tasks set deadline_at = now() where id = $1`, [hanging]);
    const order = (await deployment.startOrder()).slice(1);
    const early = order.slice(0, 24);
    expect(Math.abs(count(early, 'twenty') - 16)).toBeLessThanOrEqual(1);
    expect(count(early, 'new')).toBe(0);
  });
});

describe('the number of unfinished tasks of low priority', () => {
  let deployment: QueuedDeployment;
  beforeAll(async () => (deployment = await QueuedDeployment.start()));
  afterAll(() => deployment.close());

  /** What is counted for each key, and what it should be. */
  const counts = async () => {
    const { rows } = await deployment.database.query(
      `select l.low as counted, l.queued + l.running as unfinished,
              (select count(*)::int from tasks t
                where t.api_key_id = l.api_key_id and t.low and t.status in ('queued', 'running')) as low,
              (select count(*)::int from tasks t
                where t.api_key_id = l.api_key_id and t.status in ('queued', 'running')) as both
         from key_load l`,
    );
    return rows as { counted: number; low: number; unfinished: number; both: number }[];
  };
  const expectExact = async (low: number) => {
    const rows = await counts();
    for (const row of rows) expect([row.counted, row.unfinished]).toEqual([row.low, row.both]);
    expect(rows.reduce((sum, row) => sum + row.low, 0)).toBe(low);
  };

  it('is exact after concurrent creations, refused ones too, cancels, ends and the revocation of a key', async () => {
    const { id, key } = await anotherKey(deployment.service.api, { limits: { max_queued: 20 } });
    const api = new Api(deployment.service.baseUrl, key);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, nth) =>
        api.create(
          { model: 'gpt-image-2', prompt: '#fail:internal_error', priority: nth % 3 === 0 ? 'low' : 'normal' },
          nth % 2 === 0 ? { 'idempotency-key': `k${nth}` } : {},
        ),
      ),
    );
    const low = answers.filter(({ status, body }) => status === 201 && body.priority === 'low');
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
    await expectExact(low.length);
    if (low[0]) await api.cancel(low[0].body.task_id);
    await expectExact(Math.max(low.length - 1, 0));
    await deployment.create(4, 'l', LOW);
    await deployment.work();
    await deployment.startOrder();
    await expectExact(0);
    await deployment.clear();
    await deployment.create(5, 'l', { api, ...LOW });
    await deployment.create(2, 'n', { api });
    await expectExact(5);
    await deployment.service.api.call('DELETE', `/v1/api_keys/${id}`);
    await expectExact(0);
  });

  it('corrects itself when a process of an earlier release has ended tasks without counting them', async () => {
    await deployment.clear();
    await deployment.create(1, 'n');
    await deployment.database.query('update key_load set low = 50');
    const { body } = await deployment.service.api.create({ model: 'gpt-image-2', prompt: '#hang', ...LOW });
    await deployment.service.api.cancel(body.task_id);
    await deployment.work();
    await deployment.startOrder();
    await deployment.create(1, 'l', LOW);
    await expectExact(1);
  });
});
