import { aCat, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { QueuedDeployment } from '../support/queued-deployment.ts';
import { eventually } from '../support/wait.ts';

interface OperatorTask {
  task_id: string;
  status: string;
  waiting_for: string | null;
  stuck: string | null;
  attempt: number;
  worker_id: string | null;
  api_key_id: string;
  error_code: string | null;
}

const SECRET = 'A very secret lighthouse';

describe('the tasks of all keys', () => {
  let queued: QueuedDeployment;
  let other: Api;
  let otherId: string;

  beforeAll(async () => {
    queued = await QueuedDeployment.start();
    const { id, key } = await anotherKey(queued.service.api);
    other = new Api(queued.service.baseUrl, key);
    otherId = id;
  });
  afterAll(() => queued.close());
  afterEach(() => queued.clear());

  const api = () => queued.service.api;
  const list = async (query = '') =>
    (await api().get<{ data: OperatorTask[]; has_more: boolean; last_id: string }>(`/v1/operations/tasks?${query}`))
      .body;
  const read = async (id: string) => (await api().get<OperatorTask>(`/v1/operations/tasks/${id}`)).body;
  const act = (id: string, what: string, body?: object) =>
    api().call<OperatorTask & ErrorBody>('POST', `/v1/operations/tasks/${id}/${what}`, body);
  const hangingTask = async () => {
    const { body } = await other.create(aHang);
    await queued.work();
    await other.until(body.task_id, 'running');
    return body.task_id;
  };

  it('are listed oldest first, page by page, without what their owners sent', async () => {
    const ids: string[] = [];
    for (const each of [api(), other, api()]) {
      const { body } = await each.create({ ...aCat, prompt: SECRET, metadata: { note: SECRET } });
      ids.push(body.task_id);
    }
    const { text } = await api().get('/v1/operations/tasks');
    expect(text).not.toContain('lighthouse');
    const first = await list('limit=2');
    expect([first.data.map(({ task_id }) => task_id), first.has_more]).toEqual([ids.slice(0, 2), true]);
    const second = await list(`limit=2&after=${first.last_id}`);
    expect([second.data.map(({ task_id }) => task_id), second.has_more]).toEqual([ids.slice(2), false]);
    const ofKey = await list(`api_key_id=${otherId}&state=waiting&model=gpt-image-2`);
    expect(ofKey.data).toMatchObject([{ task_id: ids[1], waiting_for: 'worker', stuck: null }]);
    expect((await list('state=running')).data).toEqual([]);
    const timeline = await api().get<{ data: { type: string }[] }>(`/v1/operations/tasks/${ids[1]}/timeline`);
    expect(timeline.body.data.map(({ type }) => type)).toEqual(['queued']);
  });

  it('seem stuck when their worker is silent, or runs them for far too long', async () => {
    const id = await hangingTask();
    expect((await list('state=stuck')).data).toEqual([]);
    await queued.database.query(
      `insert into run_times (model, resolution, n, run_ms) values ('gpt-image-2', '', 0, '{1000}') on conflict do nothing`,
    );
    await queued.database.query(`update tasks set started_at = now() - interval '1 hour' where id = $1`, [id]);
    const [late] = await eventually('the usual times to be read', async () => {
      const { data } = await list('state=stuck');
      return data.length > 0 && data;
    });
    expect(late).toMatchObject({ task_id: id, stuck: 'over_time', status: 'running' });
    await queued.database.query(
      `update tasks set lease_until = now() - interval '1 minute', attempt = 99 where id = $1`,
      [id],
    );
    expect(await read(id)).toMatchObject({ stuck: 'lease_lapsed' });
  });

  it('seem stuck when they are parked for no reason', async () => {
    const { body } = await other.create(aCat);
    const park = `update tasks set parked = true, created_at = now() - interval '1 minute'`;
    await queued.database.query(`${park}, paused_by = 'pause_gone' where id = $1`, [body.task_id]);
    expect((await list('state=stuck')).data).toMatchObject([{ task_id: body.task_id, stuck: 'parked_without_reason' }]);
    await queued.database.query(`${park}, paused_by = null where id = $1`, [body.task_id]);
    expect((await list('state=stuck')).data).toMatchObject([
      { stuck: 'parked_without_reason', waiting_for: 'key_limit' },
    ]);
    await queued.database.query('update key_load set max_running = 1, running = 1');
    expect((await list('state=stuck')).data).toEqual([]);
  });

  it('are released: another claim continues them, and the old worker stops', async () => {
    const id = await hangingTask();
    const { attempt } = await read(id);
    const { status, body } = await act(id, 'release');
    expect([status, body.status]).toEqual([200, 'running']);
    await eventually('another claim', async () => {
      const task = await read(id);
      return task.attempt > attempt + 1 && task.worker_id !== null;
    });
    const { rows } = await queued.database.query('select losses from tasks where id = $1', [id]);
    expect(rows).toEqual([{ losses: 0 }]);
    const { rows: load } = await queued.database.query('select sum(running)::int as n from key_load');
    expect(load).toEqual([{ n: 1 }]);
    await act(id, 'cancel');
  });

  it('are released once: a release of one that waits for a claim changes nothing', async () => {
    const id = await hangingTask();
    await queued.stopWork();
    await queued.database.query(
      `update tasks set worker_id = 'gone', losses = 0, lease_until = now() + interval '1 hour' where id = $1`,
      [id],
    );
    const { attempt } = await read(id);
    for (let nth = 0; nth < 3; nth += 1) expect((await act(id, 'release')).status).toBe(200);
    const { rows } = await queued.database.query('select attempt, losses from tasks where id = $1', [id]);
    expect(rows).toEqual([{ attempt: attempt + 1, losses: -1 }]); // the claim that follows adds one
    await act(id, 'cancel');
  });

  it('are cancelled and failed by an operator, whoever owns them', async () => {
    const cancelled = await hangingTask();
    expect((await act(cancelled, 'cancel')).body).toMatchObject({ status: 'failed', error_code: 'task_cancelled' });
    const { body: waiting } = await other.create(aHang);
    expect((await act(waiting.task_id, 'fail', { code: 'provider_unavailable' })).body.error_code).toBe(
      'provider_unavailable',
    );
    const seen = await other.get(`/v1/tasks/${waiting.task_id}`);
    expect(seen.body.error).toMatchObject({ code: 'provider_unavailable', retryable: true });
    const again = await act(waiting.task_id, 'fail', { code: 'internal_error' });
    expect([again.status, again.body.error_code]).toEqual([200, 'provider_unavailable']);
    const { rows } = await queued.database.query('select sum(queued + running)::int as n from key_load');
    expect(rows).toEqual([{ n: 0 }]);
    const audit = await api().get<{ data: object[] }>(`/v1/operations/audit_events?target_id=${waiting.task_id}`);
    expect(audit.body.data).toMatchObject([
      {
        action: 'tasks.failed',
        target_type: 'tasks',
        before: { status: expect.stringMatching(/^(queued|running)$/) },
        after: { code: 'provider_unavailable' },
      },
    ]);
  });

  it('are changed many at once by a filter, and no others', async () => {
    for (let nth = 0; nth < 3; nth += 1) await other.create(aCat);
    const { body: own } = await api().create(aCat);
    const filter = { api_key_id: otherId };
    const many = (what: string, body: object) => api().call<ErrorBody>('POST', `/v1/operations/tasks/${what}`, body);
    expect((await many('release', { filter })).body).toEqual({ object: 'tasks_changed', matched: 3, changed: 0 });
    expect((await many('fail', { filter, code: 'internal_error' })).body).toMatchObject({ matched: 3, changed: 3 });
    expect((await many('cancel', { filter })).body).toMatchObject({ matched: 0, changed: 0 });
    expect((await read(own.task_id)).status).toBe('queued');
    for (const body of [{}, { filter: {} }, { filter: { unknown: 1 } }, { filter, code: 'nonsense' }]) {
      const refused = await many('fail', { code: 'internal_error', ...body });
      expect(refused.status).toBe(400);
    }
    expect((await read(own.task_id)).status).toBe('queued');
  });

  it('end once when an act races with the end of the run', async () => {
    await queued.work({ WORKER_CONCURRENCY: '5' });
    for (let nth = 0; nth < 5; nth += 1) {
      const { body } = await other.create(aCat);
      await other.until(body.task_id, 'running', 'succeeded');
      await Promise.all([act(body.task_id, 'release'), act(body.task_id, 'fail', { code: 'internal_error' })]);
      const ended = await other.untilFinal(body.task_id);
      expect(['succeeded', 'failed']).toContain(ended.status);
    }
    const { rows } = await queued.database.query(
      'select sum(queued)::int as queued, sum(running)::int as running from key_load',
    );
    expect(rows).toEqual([{ queued: 0, running: 0 }]);
  });

  it('that are unknown, or that no worker runs, are refused with their codes', async () => {
    for (const id of ['unknown', 'task_%00', 'task_00000000000000000000000000']) {
      for (const what of ['cancel', 'release', 'fail']) {
        const { status, body } = await act(id, what, what === 'fail' ? { code: 'internal_error' } : undefined);
        expect([what, status, body.error.code]).toEqual([what, 404, 'task_not_found']);
      }
    }
    const { body } = await other.create(aCat);
    const released = await act(body.task_id, 'release');
    expect([released.status, released.body.error.code]).toEqual([409, 'task_not_running']);
  });
});
