import { DataSource } from 'typeorm';
import { Pace } from '../../src/tasks/queue/pace.ts';
import { aFailure, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { eventually } from '../support/wait.ts';

interface Estimate {
  object: string;
  task_id: string;
  status: string;
  position: number | null;
  waiting_for: string | null;
  estimated_start_at: number | null;
  estimated_completion_at: number | null;
  sampled_at: number;
}

const nowS = () => Date.now() / 1000;

describe('GET /v1/tasks/{task_id}/estimate', () => {
  let service: InProcess;
  beforeAll(async () => {
    service = await startInProcess({ WORKER_CONCURRENCY: '1' });
  });
  afterAll(() => service?.close());

  const estimate = async (id: string) => (await service.api.get<Estimate>(`/v1/tasks/${id}/estimate`)).body;

  it('knows the place of a waiting task, when it starts and when it ends', async () => {
    const first = await service.api.create({ model: 'gpt-image-2', prompt: '#delay:1 A cat' });
    await service.api.untilFinal(first.body.task_id);
    await service.app.get(Pace).flush();
    const running = (await service.api.create(aHang)).body.task_id;
    await service.api.until(running, 'running');
    const waiting: string[] = [];
    for (let nth = 0; nth < 3; nth++) waiting.push((await service.api.create(aFailure)).body.task_id);
    await service.app.get(Pace).flush();

    await eventually('the places', async () => (await estimate(waiting[2]!)).position === 3);
    const estimates = await Promise.all(waiting.map(estimate));
    expect(estimates.map(({ position }) => position)).toEqual([1, 2, 3]);
    let before = Math.floor(nowS());
    for (const [at, each] of estimates.entries()) {
      expect(each).toMatchObject({
        object: 'task_estimate',
        task_id: waiting[at],
        status: 'queued',
        waiting_for: 'worker',
      });
      expect(each.estimated_start_at).toBeGreaterThanOrEqual(before);
      expect(each.estimated_completion_at).toBeGreaterThan(each.estimated_start_at!);
      expect(each.estimated_start_at! - nowS()).toBeLessThan(305 * (at + 1)); // two starts in five minutes, or fewer seconds
      expect(Math.abs(each.sampled_at - nowS())).toBeLessThan(30);
      before = each.estimated_start_at!;
    }

    const now = await estimate(running);
    expect(now).toMatchObject({ status: 'running', position: null, waiting_for: null, estimated_start_at: null });
    expect(now.estimated_completion_at).toBeGreaterThanOrEqual(Math.floor(nowS()));

    await service.api.cancel(running);
    for (const id of waiting) await service.api.untilFinal(id);
    expect(await estimate(waiting[0]!)).toMatchObject({
      status: 'failed',
      position: null,
      waiting_for: null,
      estimated_start_at: null,
      estimated_completion_at: null,
    });
  });

  it('says nothing about the end of a kind of run that has not succeeded yet', async () => {
    const { body } = await service.api.create({ model: 'seedance-2', prompt: '#hang' });
    await service.api.until(body.task_id, 'running');
    expect(await estimate(body.task_id)).toMatchObject({ status: 'running', estimated_completion_at: null });
    await service.api.cancel(body.task_id);
  });

  it('is Task.estimate in GraphQL, of many tasks at once', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const { data } = await graphql.ask<{ tasks: { edges: { node: { taskId: string; estimate: object } }[] } }>(
      `{ tasks(first: 5) { edges { node { taskId estimate { taskId status position waitingFor estimatedStartAt sampledAt } } } } }`,
    );
    expect(data.tasks.edges.length).toBeGreaterThan(3);
    for (const { node } of data.tasks.edges) {
      expect(node.estimate).toMatchObject({ taskId: node.taskId, status: 'FAILED', position: null, waitingFor: null });
    }
    await graphql.close();
  });

  it('does not know tasks of others', async () => {
    const { body } = await service.api.create(aFailure);
    const other = new Api(service.baseUrl, (await anotherKey(service.api)).key);
    for (const id of [body.task_id, 'task_01jd8e5t9kf3qs7m2v4xw6yzab', 'nonsense']) {
      const answer = await other.get<ErrorBody>(`/v1/tasks/${id}/estimate`);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
    }
  });
});

describe('the estimate of a task that its API key holds back', () => {
  let service: InProcess;
  beforeAll(async () => {
    service = await startInProcess();
  });
  afterAll(() => service?.close());

  it('has no place until another task of the key ends', async () => {
    const { key } = await anotherKey(service.api, { limits: { max_running: 1 } });
    const other = new Api(service.baseUrl, key);
    const first = (await other.create(aHang)).body.task_id;
    await other.until(first, 'running');
    const second = (await other.create(aHang)).body.task_id;
    const ask = async () => (await other.get<Estimate>(`/v1/tasks/${second}/estimate`)).body;
    await eventually('the limit', async () => (await ask()).waiting_for === 'key_limit');
    expect(await ask()).toMatchObject({
      status: 'queued',
      position: null,
      waiting_for: 'key_limit',
      estimated_start_at: null,
      estimated_completion_at: null,
    });
    await other.cancel(first);
    await other.until(second, 'running');
    expect(await ask()).toMatchObject({ status: 'running', position: null, waiting_for: null });
    await other.cancel(second);
  });
});

describe('positions among 100,000 waiting tasks', () => {
  let service: InProcess;
  let database: DataSource;
  beforeAll(async () => {
    service = await startInProcess({ ROLE: 'api' }); // nothing is claimed
    database = service.app.get(DataSource);
    await database.query(
      `insert into tasks (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, priority, parked)
       select 'task_01' || substr(md5(n::text), 1, 24), (select id from api_keys limit 1), 'image', 'gpt-image-2', 'queued', '{}',
              now(), now() + interval '1 day', now() + interval '1 day', 1 + (n * 7919) % 1000, n % 50 = 0
       from generate_series(1, 100000) n`,
    );
  });
  afterAll(() => service?.close());

  const estimate = async (id: string) => (await service.api.get<Estimate>(`/v1/tasks/${id}/estimate`)).body;
  const counted = async (id: string): Promise<number> =>
    (
      await database.query<{ position: number }[]>(
        `select count(*)::int as position from tasks t, tasks own
         where own.id = $1 and t.status = 'queued' and not t.parked and (t.priority, t.id) <= (own.priority, own.id)`,
        [id],
      )
    )[0]!.position;
  const some = async (condition: string, order: string): Promise<string[]> =>
    (await database.query<{ id: string }[]>(`select id from tasks where ${condition} order by ${order} limit 60`)).map(
      ({ id }) => id,
    );

  it('are those of a count of all tasks before them', async () => {
    const ids = [
      ...(await some('not parked', 'priority, id')),
      ...(await some('not parked and priority < 100', 'md5(id)')),
    ];
    for (const id of ids)
      expect({ id, position: (await estimate(id)).position }).toEqual({ id, position: await counted(id) });
  });

  it('are also those of tasks that are newer than the line that was read', async () => {
    const id = 'task_01000000000000000000000000';
    await estimate(id);
    await database.query(
      `insert into tasks (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, priority)
       select $1, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, 50 from tasks where not parked limit 1`,
      [id],
    );
    expect((await estimate(id)).position).toBe(await counted(id));
  });

  it('of tasks of low priority are behind the others, but for every tenth start', async () => {
    await database.query(
      `insert into tasks (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, priority, low)
       select 'task_02' || lpad(n::text, 24, '0'), api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, 16401, true
       from (select * from tasks where not parked limit 1) t, generate_series(1, 1500) n`,
    );
    const low = (nth: number) => estimate(`task_02${String(nth).padStart(24, '0')}`);
    await eventually('the next line', async () => (await low(2)).position === 20);
    expect((await low(1)).position).toBe(10);
    expect((await low(1000)).position).toBe(10_000);
    expect((await low(1001)).position).toBeNull();
    const [first, tenth] = await some('not parked and not low', 'priority, id').then((ids) => [ids[0]!, ids[9]!]);
    expect((await estimate(first)).position).toBe(1);
    expect((await estimate(tenth)).position).toBe(11);
    await database.query('delete from tasks where low');
    await eventually('the line without them', async () => (await estimate(tenth)).position === 10);
  });

  it('end at 10,000', async () => {
    const far = await some('not parked and priority > 200', 'md5(id)');
    for (const id of far)
      expect(await estimate(id)).toMatchObject({ position: null, waiting_for: 'worker', status: 'queued' });
    const parked = await some('parked', 'priority, id');
    for (const id of parked) expect(await estimate(id)).toMatchObject({ position: null, waiting_for: 'key_limit' });
  });

  it('follow the line', async () => {
    const [first, second] = await some('not parked', 'priority, id');
    expect((await estimate(second!)).position).toBe(2);
    const [{ body }] = [await service.api.cancel(first!)];
    expect(body.status).toBe('failed');
    await eventually('the next line', async () => (await estimate(second!)).position === 1);
  });
});
