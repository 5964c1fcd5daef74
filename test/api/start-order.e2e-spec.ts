// In-process: two dozen workers start and stop here, which costs a tenth of what it costs with built ones.
import { jest } from '@jest/globals';
import { Authenticator } from '../../src/auth/credentials/authenticator.ts';
import { POLL_MS } from '../../src/generation/run/task-claimer.ts';
import { GenerationsService } from '../../src/generation/accept/generations.service.ts';
import { newTaskId } from '../../src/tasks/record/task-id.ts';
import { aFailure, aHang, Api, type TaskBody } from '../support/clients/api.ts';
import { dropIntervals } from '../support/clock.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { count, QueuedDeployment } from '../support/queued-deployment.ts';
import { eventually } from '../support/wait.ts';

const LOW = { priority: 'low' };
const SWEEPING = { TASK_SWEEP_S: '0.1' };

let deployment: QueuedDeployment;
beforeAll(async () => (deployment = await QueuedDeployment.start()));
afterEach(() => deployment.clear());
afterAll(() => deployment.close());

describe('waiting tasks of low priority', () => {
  it('get every tenth start while normal ones wait, in any order of creation', async () => {
    const other = await deployment.keyWith();
    await deployment.create(4, 'l', LOW);
    await deployment.create(12, 'n');
    await deployment.create(6, 'n', { api: other });
    await deployment.work();
    expect((await deployment.startOrder()).join('')).toBe('nnnnnnnnnl'.repeat(2) + 'll');
  });

  it.each([
    [0, 'nnnnnnnnllll'],
    [50, 'nlnlnlnlnnnn'],
  ])('get the share of LOW_PRIORITY_SHARE, %i percent', async (share, order) => {
    await deployment.create(4, 'l', LOW);
    await deployment.create(8, 'n');
    await deployment.work({ LOW_PRIORITY_SHARE: String(share) });
    expect((await deployment.startOrder()).join('')).toBe(order);
  });

  it('have their share in claims of many places, too', async () => {
    await deployment.create(5, 'l', { ...LOW, prompt: '#hang' });
    await deployment.create(30, 'n', { prompt: '#hang' });
    await deployment.work({ WORKER_CONCURRENCY: '25' }); // of which five are reserved for other keys
    await eventually('the places to be used', async () => (await deployment.rows(`status = 'running'`)).length === 20);
    expect(count(await deployment.rows(`status = 'running'`), 'l')).toBe(2);
  });

  it('all start at once when no normal task waits', async () => {
    await deployment.create(12, 'l', { ...LOW, prompt: '#hang' });
    await deployment.work({ WORKER_CONCURRENCY: '50' });
    await eventually('all to run', async () => (await deployment.rows(`status = 'running'`)).length === 12);
  });

  it('do not hold back later normal tasks of their own key, which is at its limit', async () => {
    await parkAll({ low: 5, normal: 5, share: 0 });
    expect((await deployment.startOrder()).slice(1).join('')).toBe('nnnnnlllll');
  });

  it('start although their key is at its limit and never runs out of normal tasks', async () => {
    await parkAll({ low: 20, normal: 40, share: 50 });
    const early = (await deployment.startOrder()).slice(1, 41);
    // Each place is offered to a task of low priority with a chance of a half: none of 40 is as likely as 40 heads in
    // a row.
    expect(count(early, 'l')).toBeGreaterThan(0);
    expect(count(early, 'n')).toBeGreaterThan(0);
  });

  it('may wait longer than others, and run as long', async () => {
    const { api } = deployment.service;
    const { task_id } = (await api.create({ ...aHang, ...LOW })).body;
    await deployment.database.query(
      `update tasks_live set created_at = created_at - interval '1 hour', deadline_at = deadline_at - interval '1 hour'`,
    );
    await deployment.work(SWEEPING);
    await api.until(task_id, 'running');
    const { rows } = await deployment.database.query(
      'select extract(epoch from deadline_at - started_at)::int as runs_s from tasks',
    );
    expect(rows).toEqual([{ runs_s: 600 }]);
  });

  it('share the deadlines of low priority with normal tasks of a batch', async () => {
    const { app, api } = deployment.service;
    const caller = await app.get(Authenticator).authenticate(api.key!);
    await app.get(GenerationsService).accept(caller, aFailure, { origin: { source: 'batch' } });
    await deployment.create(1, 'l', LOW);
    await deployment.create(1, 'n');
    const { rows } = await deployment.database.query(
      `select source, low, run_deadline_s as run_s, extract(epoch from deadline_at - created_at)::int as wait_s
         from tasks order by id`,
    );
    expect(rows).toEqual([
      { source: 'batch', low: false, run_s: 600, wait_s: 86_400 },
      { source: 'api', low: true, run_s: 600, wait_s: 86_400 },
      { source: 'api', low: false, run_s: null, wait_s: 600 },
    ]);
  });

  it('fail when they have waited for LOW_DEADLINE_S', async () => {
    const { api } = deployment.service;
    await deployment.create(1, 'plug', { prompt: '#hang' });
    await deployment.work(SWEEPING);
    await eventually(
      'the only place to be taken',
      async () => (await deployment.rows(`status = 'running'`)).length === 1,
    );
    const made = [await api.create({ ...aHang, ...LOW }), await api.create({ ...aHang, ...LOW })];
    await deployment.database.query(`update tasks_live set deadline_at = deadline_at - interval '1 day' where low`);
    for (const { body } of made) {
      expect((await api.untilFinal(body.task_id)).error?.code).toBe('task_deadline_exceeded');
    }
  });
});

describe('waiting tasks', () => {
  /** For one API key: a worker of four places reserves one for other keys. */
  const PLACES = 3;
  const work = () => deployment.work({ WORKER_CONCURRENCY: String(PLACES + 1) });
  const create = (amount: number, body: object) =>
    Promise.all(Array.from({ length: amount }, async () => (await deployment.service.api.create(body)).body.task_id));
  const running = async () => (await deployment.rows(`status = 'running'`)).length;

  it('are claimed by a worker up to its concurrency, and then by the next worker', async () => {
    const { api } = deployment.service;
    const ids = await create(2 * PLACES + 2, aHang);
    await work();
    await eventually('all places to be used', async () => (await running()) === PLACES);
    // Both workers run in this process and share its worker id, so only the number of running tasks shows the second.
    await work();
    await eventually('the next places', async () => (await running()) === 2 * PLACES);
    for (let poll = 0; poll < 30; poll += 1) expect(await running()).toBeLessThanOrEqual(2 * PLACES);
    await api.cancel(ids.at(0) as string);
    await api.cancel(ids.at(-1) as string);
    await eventually('the free place to be used again', async () => (await running()) === 2 * PLACES);
  });

  it('stay queued when the worker stops, and running tasks are released', async () => {
    await create(PLACES + 2, aHang);
    await work();
    await eventually('all places to be used', async () => (await running()) === PLACES);
    await deployment.stopWork();
    const { rows } = await deployment.database.query<{ status: string; lapsed: boolean | null }>(
      'select status, lease_until < now() as lapsed from tasks order by status',
    );
    expect(rows.filter(({ status }) => status === 'queued')).toHaveLength(2);
    expect(rows.filter(({ status, lapsed }) => status === 'running' && lapsed)).toHaveLength(PLACES);
  });

  it('are started at once by the wake signal, not by the next poll, and each once, however many workers poll', async () => {
    const { api } = deployment.service;
    dropIntervals(POLL_MS);
    await work();
    for (let nth = 0; nth < 15; nth += 1) await api.untilFinal((await api.create<TaskBody>(aFailure)).body.task_id);
    jest.restoreAllMocks();
    await work();
    for (const id of await create(40, aFailure)) await api.untilFinal(id);
    const { rows } = await deployment.database.query('select attempt, count(*)::int as tasks from tasks group by 1');
    expect(rows).toEqual([{ attempt: 1, tasks: 15 + 40 }]);
  });

  it('are found although the wake signal was lost, and so are the tasks of a dead worker', async () => {
    const { api } = deployment.service;
    await deployment.create(1, 'first');
    await deployment.work({ TASK_HEARTBEAT_S: '0.5' }); // how long a worker that has started takes nothing over
    const [unsignalled, abandoned] = [newTaskId(), newTaskId()];
    await deployment.database.query(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, attempt, waits, lease_until)
       select id, (select api_key_id from key_load limit 1), 'image', 'gpt-image-2', status, $3, now(),
              now() + interval '1 hour', now() + interval '1 hour', attempt, attempt = 0, lease
         from (values ($1, 'queued', 0, null), ($2, 'running', 1, now() - interval '1 s')) as v (id, status, attempt, lease)`,
      [unsignalled, abandoned, aFailure],
    );
    await api.untilFinal(unsignalled);
    await api.untilFinal(abandoned);
    const { rows } = await deployment.database.query(
      'select attempt, losses from tasks where id = any($1) order by attempt',
      [[unsignalled, abandoned]],
    );
    expect(rows).toEqual([
      { attempt: 1, losses: 0 },
      { attempt: 2, losses: 1 },
    ]);
  });
});

describe('the starts of several API keys', () => {
  it.each([
    ['normal', {}],
    ['low', LOW],
  ])('are in the ratio of the weights while all have tasks that wait: %s priority', async (_priority, body) => {
    const keys = await Promise.all([10, 20, 5].map((weight) => deployment.keyWith({ weight })));
    for (const [at, api] of keys.entries())
      await deployment.create([9, 15, 6][at]!, ['ten', 'twenty', 'five'][at]!, { api, ...body });
    await deployment.work();
    const early = (await deployment.startOrder()).slice(0, 21);
    const [ten, twenty, five] = ['ten', 'twenty', 'five'].map((name) => count(early, name)) as [number, number, number];
    expect(Math.abs(twenty - 12)).toBeLessThanOrEqual(1);
    expect(Math.abs(ten - 6)).toBeLessThanOrEqual(1);
    expect(Math.abs(five - 3)).toBeLessThanOrEqual(1);
  });

  it('take turns without weights', async () => {
    const keys = await Promise.all(['a', 'b', 'c'].map(() => deployment.keyWith()));
    for (const [at, api] of keys.entries()) await deployment.create(4, 'abc'[at]!, { api });
    await deployment.work();
    expect((await deployment.startOrder()).join('')).toBe('abc'.repeat(4));
  });

  it('do not depend on the tasks of low priority that a key has', async () => {
    const [batch, single] = await Promise.all([deployment.keyWith(), deployment.keyWith()]);
    await deployment.create(12, 'l', { api: batch, ...LOW });
    await deployment.create(3, 's', { api: single });
    await deployment.create(3, 'b', { api: batch });
    await deployment.work({ LOW_PRIORITY_SHARE: '0' });
    expect((await deployment.startOrder()).slice(0, 6).join('')).toBe('sbsbsb');
  });

  it('let a newcomer in after at most one task of a backlog', async () => {
    const api = await deployment.keyWith();
    await deployment.create(5, 'old', { api });
    const { body: hanging } = await api.create(aHang); // keeps the only place, so that the rest waits
    await deployment.create(34, 'old', { api });
    await deployment.work();
    await api.until(hanging.task_id, 'running');
    await deployment.stopWork();
    await api.cancel(hanging.task_id);
    await deployment.create(5, 'new', { api: await deployment.keyWith() });
    await deployment.work();
    const order = (await deployment.startOrder()).slice(6);
    expect(order.indexOf('new')).toBeLessThanOrEqual(1);
    expect(Math.abs(count(order.slice(0, 10), 'new') - 5)).toBeLessThanOrEqual(1);
  });

  it('hold nothing against a key that has had all places while nobody else wanted them', async () => {
    const [first, second] = [await deployment.keyWith(), await deployment.keyWith()];
    await deployment.create(20, 'alone', { api: first });
    await deployment.work();
    await deployment.startOrder();
    await deployment.stopWork();
    await deployment.create(6, 'f', { api: first });
    await deployment.create(6, 's', { api: second });
    await deployment.work();
    const order = (await deployment.startOrder()).slice(20);
    expect(Math.abs(count(order.slice(0, 6), 'f') - 3)).toBeLessThanOrEqual(1);
  });

  it('are in the ratio of the time that their tasks usually take', async () => {
    await deployment.database.query(
      `insert into run_times (model, resolution, n, run_ms, wait_ms)
       values ('gpt-image-2', '1K', 1, '{1000}', '{0}'), ('gpt-image-2', '4K', 1, '{6000}', '{0}')`,
    );
    const [long, short] = [await deployment.keyWith(), await deployment.keyWith()];
    await eventually('the times to be known', async () => {
      await deployment.create(2, 'try', { api: long, resolution: '4K' });
      const { rows } = await deployment.database.query('select max(place) - min(place) as cost from tasks_live');
      await deployment.database.query('delete from tasks_live; delete from key_load');
      return Number(rows[0].cost) === 6_000;
    });
    await deployment.create(4, 'long', { api: long, resolution: '4K' });
    await deployment.create(20, 'short', { api: short, resolution: '1K' });
    await deployment.work();
    const early = (await deployment.startOrder()).slice(0, 14);
    expect(count(early, 'long')).toBe(2);
  });
});

describe('the number of unfinished tasks of low priority', () => {
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

/** Parks tasks of a key with one place, those of low priority first, and then frees the place. */
async function parkAll({ low, normal, share }: { low: number; normal: number; share: number }): Promise<void> {
  const api = await deployment.keyWith({ max_running: 1 });
  await deployment.create(1, 'first', { api, prompt: '#hang' });
  await deployment.work({ ...SWEEPING, WORKER_CONCURRENCY: '10', LOW_PRIORITY_SHARE: String(share) });
  await eventually('the first to run', async () => (await deployment.rows(`status = 'running'`)).length === 1);
  await deployment.create(low, 'l', { api, ...LOW });
  await deployment.create(normal, 'n', { api });
  await eventually('the rest to be parked', async () => (await deployment.rows('parked')).length === low + normal);
  // The worker itself ends it, and offers the place with its own share.
  await deployment.database.query(`update tasks_live set deadline_at = now() where status = 'running'`);
}
