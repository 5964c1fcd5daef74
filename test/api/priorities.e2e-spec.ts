import OpenAI from 'openai';
import { Authenticator } from '../../src/auth/authenticator.ts';
import { GenerationsService } from '../../src/generation/accept/generations.service.ts';
import { aFailure, aHang, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { count, QueuedDeployment } from '../support/queued-deployment.ts';
import { eventually } from '../support/wait.ts';

const LOW = { priority: 'low' };

describe('the priority of a task', () => {
  let service: InProcess;
  let graphql: GraphqlClient;
  beforeAll(async () => {
    service = await startInProcess();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
  });
  afterAll(async () => {
    await graphql?.close();
    await service?.close();
  });

  it.each([
    ['normal when left out', {}, 'normal'],
    ['normal', { priority: 'normal' }, 'normal'],
    ['low', LOW, 'low'],
  ])('is %s, and every view shows it', async (_case, given, priority) => {
    const { status, body } = await service.api.create({ ...aFailure, ...given });
    expect([status, body.priority]).toEqual([201, priority]);
    expect(body.input).not.toHaveProperty('priority');
    expect(await service.api.untilFinal(body.task_id)).toMatchObject({ priority });
    const { data } = (await service.api.get<{ data: TaskBody[] }>('/v1/tasks?limit=1')).body;
    expect(data[0]).toMatchObject({ task_id: body.task_id, priority });
    const stream = await EventReader.open(service.baseUrl, `/v1/tasks/${body.task_id}/events`, service.api.key!);
    await stream.ended;
    expect(stream.events[0]?.data).toMatchObject({ priority });
    const asked = await graphql.ask<{ task: object }>(`query ($id: String!) { task(taskId: $id) { priority } }`, { id: body.task_id }); // prettier-ignore
    expect(asked.data.task).toEqual({ priority: priority.toUpperCase() });
  });

  it('can be chosen in GraphQL, and one Idempotency-Key means the same request as in REST', async () => {
    const { data } = await graphql.ask<{ createGeneration: { taskId: string; priority: string } }>(
      `mutation ($input: CreateGenerationInput!) {
        createGeneration(input: $input, idempotencyKey: "low") { taskId priority }
      }`,
      { input: { ...aFailure, ...LOW } },
    );
    expect(data.createGeneration.priority).toBe('LOW');
    const again = await service.api.create({ ...aFailure, ...LOW }, { 'idempotency-key': 'low' });
    expect(again.body).toMatchObject({ task_id: data.createGeneration.taskId, priority: 'low' });
    const other = await service.api.create<ErrorBody>(aFailure, { 'idempotency-key': 'low' });
    expect(other.body.error.code).toBe('idempotency_key_reused');
  });

  it.each([
    ['high', 'invalid_value'],
    ['LOW', 'invalid_value'],
    [1, 'invalid_type'],
    [null, 'invalid_type'],
  ])('is refused when it is %j', async (priority, code) => {
    const { status, body } = await service.api.create<ErrorBody>({ ...aFailure, priority });
    expect([status, body.error.code, body.error.param]).toEqual([400, code, 'priority']);
  });

  it('can be chosen by clients of OpenAI', async () => {
    const openai = new OpenAI({ apiKey: service.api.key!, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
    const film = await openai.videos.create({ prompt: '#hang', ...LOW } as never);
    expect((await service.api.get(`/v1/tasks/${film.id}`)).body).toMatchObject({ source: 'openai', priority: 'low' });
    await service.api.cancel(film.id);
    const image = await openai.images.generate({ prompt: 'A cat', response_format: 'url', ...LOW } as never);
    const { task_id: id } = image as unknown as { task_id: string };
    expect((await service.api.get(`/v1/tasks/${id}`)).body).toMatchObject({ source: 'openai', priority: 'low' });
    const fault = await openai.images.generate({ prompt: 'A cat', priority: 'high' } as never).catch((error) => error);
    expect([fault.status, fault.code, fault.param]).toEqual([400, 'invalid_value', 'priority']);
  });
});

describe('waiting tasks of low priority', () => {
  let deployment: QueuedDeployment;
  beforeAll(async () => (deployment = await QueuedDeployment.start()));
  afterEach(() => deployment.clear());
  afterAll(() => deployment.close());

  it('get every tenth start while normal ones wait, in any order of creation', async () => {
    const other = await deployment.keyWith();
    await deployment.create(6, 'l', LOW);
    await deployment.create(20, 'n');
    await deployment.create(7, 'n', { api: other });
    await deployment.work();
    expect((await deployment.startOrder()).join('')).toBe('nnnnnnnnnl'.repeat(3) + 'lll');
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
    await deployment.create(10, 'l', { ...LOW, prompt: '#hang' });
    await deployment.create(60, 'n', { prompt: '#hang' });
    await deployment.work({ WORKER_CONCURRENCY: '50' }); // of which ten are reserved for other keys
    await eventually('the places to be used', async () => (await deployment.rows(`status = 'running'`)).length === 40);
    expect(count(await deployment.rows(`status = 'running'`), 'l')).toBe(4);
  });

  it('all start at once when no normal task waits', async () => {
    await deployment.create(12, 'l', { ...LOW, prompt: '#hang' });
    await deployment.work({ WORKER_CONCURRENCY: '50' });
    await eventually('all to run', async () => (await deployment.rows(`status = 'running'`)).length === 12);
  });

  it('do not hold back later normal tasks of their own key, which is at its limit', async () => {
    const second = await QueuedDeployment.start({ LOW_PRIORITY_SHARE: '0' });
    try {
      await parkAll(second, { low: 5, normal: 5 });
      expect((await second.startOrder()).slice(1).join('')).toBe('nnnnnlllll');
    } finally {
      await second.close();
    }
  });

  it('start although their key is at its limit and never runs out of normal tasks', async () => {
    const second = await QueuedDeployment.start({ LOW_PRIORITY_SHARE: '50' });
    try {
      await parkAll(second, { low: 20, normal: 40 });
      const early = (await second.startOrder()).slice(1, 41);
      // Each place is offered to a task of low priority with a chance of a half: none of 40 is as likely as 40 heads in
      // a row.
      expect(count(early, 'l')).toBeGreaterThan(0);
      expect(count(early, 'n')).toBeGreaterThan(0);
    } finally {
      await second.close();
    }
  });

  it('may wait for LOW_DEADLINE_S, and run as long as others', async () => {
    const second = await QueuedDeployment.start({
      TASK_DEADLINE_IMAGE_S: '1',
      LOW_DEADLINE_S: '3600',
      TASK_SWEEP_S: '0.2',
    });
    try {
      const { api } = second.service;
      const { body } = await api.create({ ...aHang, ...LOW });
      await eventually('the deadline of a normal task to pass', async () => Date.now() > body.created_at * 1000 + 2500);
      await second.work();
      expect((await api.untilFinal(body.task_id)).error?.code).toBe('task_deadline_exceeded');
      const { rows } = await second.database.query(
        'select extract(epoch from completed_at - started_at)::float8 as ran from tasks',
      );
      expect(rows[0].ran).toBeGreaterThanOrEqual(1);
      expect(rows[0].ran).toBeLessThan(600); // not an hour
    } finally {
      await second.close();
    }
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
    const second = await QueuedDeployment.start({ LOW_DEADLINE_S: '1', TASK_DEADLINE_IMAGE_S: '1' });
    try {
      const { api } = second.service;
      const made = [await api.create({ ...aHang, ...LOW }), await api.create({ ...aHang, ...LOW })];
      await second.work({ TASK_SWEEP_S: '0.2', TASK_DEADLINE_IMAGE_S: '3600' });
      for (const { body } of made) {
        expect((await api.untilFinal(body.task_id)).error?.code).toBe('task_deadline_exceeded');
      }
    } finally {
      await second.close();
    }
  });
});

/** Parks tasks of a key with one place, those of low priority first, and then frees the place. */
async function parkAll(deployment: QueuedDeployment, { low, normal }: { low: number; normal: number }): Promise<void> {
  const api = await deployment.keyWith({ max_running: 1 });
  await deployment.create(1, 'first', { api, prompt: '#hang' });
  await deployment.work({ WORKER_CONCURRENCY: '10' });
  await eventually('the first to run', async () => (await deployment.rows(`status = 'running'`)).length === 1);
  await deployment.create(low, 'l', { api, ...LOW });
  await deployment.create(normal, 'n', { api });
  await eventually('the rest to be parked', async () => (await deployment.rows('parked')).length === low + normal);
  const { rows } = await deployment.database.query(`select id from tasks where status = 'running'`);
  await api.cancel(rows[0].id);
}
