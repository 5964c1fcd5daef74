// In process: most tests start and stop workers, which costs little here, and one looks at the statement of a claim.
import { Client } from 'pg';
import { ClaimTasks } from '../../src/tasks/sql/claim-tasks.ts';
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

interface PauseBody {
  id: string;
  kind: string;
  model: string | null;
  provider: string | null;
  place: number | null;
  models: string[];
  tasks: number;
  ended_at: number | null;
}

const SECRET = 'A very secret lighthouse';

let queued: QueuedDeployment;
beforeAll(async () => {
  queued = await QueuedDeployment.start({ MAX_QUEUED_PER_KEY: '0' });
  // A process reads them at most every ten seconds.
  await queued.database.query(
    `insert into run_times (model, resolution, n, run_ms) values ('gpt-image-2', '', 0, '{1000}')`,
  );
});
afterAll(() => queued?.close());
afterEach(() => queued.clear());
const api = () => queued.service.api;

describe('the tasks of all keys', () => {
  let other: Api;
  let otherId: string;

  beforeAll(async () => {
    const { id, key } = await anotherKey(queued.service.api);
    other = new Api(queued.service.baseUrl, key);
    otherId = id;
  });
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
    await queued.database.query(`update tasks_live set started_at = now() - interval '1 hour' where id = $1`, [id]);
    const [late] = (await list('state=stuck')).data;
    expect(late).toMatchObject({ task_id: id, stuck: 'over_time', status: 'running' });
    await queued.database.query(
      `update tasks_live set lease_until = now() - interval '1 minute', attempt = 99 where id = $1`,
      [id],
    );
    expect(await read(id)).toMatchObject({ stuck: 'lease_lapsed' });
  });

  it('seem stuck when they are parked for no reason', async () => {
    const { body } = await other.create(aCat);
    const park = `update tasks_live set parked = true, waits = false, created_at = now() - interval '1 minute'`;
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
      `update tasks_live set worker_id = 'gone', losses = 0, lease_until = now() + interval '1 hour' where id = $1`,
      [id],
    );
    const { attempt } = await read(id);
    for (let nth = 0; nth < 3; nth += 1) expect((await act(id, 'release')).status).toBe(200);
    const { rows } = await queued.database.query('select attempt, losses from tasks where id = $1', [id]);
    expect(rows).toEqual([{ attempt: attempt + 1, losses: -1 }]); // the claim that follows adds one
    await act(id, 'cancel');
  });

  it('are claimed a minute after their release, if a paid call may be in flight', async () => {
    const id = await hangingTask();
    await queued.stopWork();
    await queued.database.query(
      `update tasks_live set worker_id = 'gone', losses = 0, lease_until = now() + interval '1 hour', submitted_at = now()
       where id = $1`,
      [id],
    );
    for (let nth = 0; nth < 2; nth += 1) expect((await act(id, 'release')).status).toBe(200);
    const left = 'select losses, lease_until - now() between $2 and $3 as waits from tasks_live where id = $1';
    const { rows } = await queued.database.query(left, [id, '30 s', '61 s']);
    expect(rows).toEqual([{ losses: -1, waits: true }]);
    await act(id, 'cancel');
  });

  it('are cancelled and failed by an operator, whoever owns them', async () => {
    const cancelled = await hangingTask();
    expect((await act(cancelled, 'cancel')).body).toMatchObject({ status: 'failed', error_code: 'task_cancelled' });
    const { body: waiting } = await other.create(aHang);
    expect(
      (await act(waiting.task_id, 'fail', { code: 'provider_unavailable', reason: 'It is lost.' })).body.error_code,
    ).toBe('provider_unavailable');
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
        after: { code: 'provider_unavailable', reason: 'It is lost.' },
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

  it('are acted upon with a reason if one is given, which the audit keeps', async () => {
    const latest = async () =>
      (await api().get<{ data: { after: object | null }[] }>('/v1/operations/audit_events?limit=1')).body.data[0]!
        .after;
    const id = await hangingTask();
    expect((await act(id, 'release', { reason: 'Its host is slow.' })).status).toBe(200);
    expect(await latest()).toEqual({ reason: 'Its host is slow.' });
    for (const reason of ['', 'x'.repeat(501), 7]) {
      const refused = await act(id, 'cancel', { reason });
      expect([refused.status, refused.body.error.param]).toEqual([400, 'reason']);
    }
    expect(await latest()).toEqual({ reason: 'Its host is slow.' });
    const inGraphql = (query: string, variables = {}) =>
      api().call<{ errors?: { extensions: object }[] }>('POST', '/graphql', { query, variables });
    const document = `mutation ($id: String!, $reason: String) { cancelOperatorTask(taskId: $id, reason: $reason) { status } }`;
    const long = await inGraphql(document, { id, reason: 'x'.repeat(501) });
    expect(long.body.errors?.[0]?.extensions).toMatchObject({ param: 'reason' });
    await inGraphql(document, { id, reason: 'x'.repeat(500) });
    expect(await latest()).toEqual({ reason: 'x'.repeat(500) });
    const filter = { api_key_id: otherId };
    await api().call('POST', '/v1/operations/tasks/cancel', { filter, reason: 'It repeats itself.' });
    expect(await latest()).toEqual({ reason: 'It repeats itself.' });
    await inGraphql(`mutation { cancelOperatorTasks(filter: { apiKeyId: "${otherId}" }) { changed } }`);
    expect(await latest()).toEqual({});
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

describe('pauses', () => {
  afterEach(async () => {
    for (const { id } of await open()) await end(id);
    await queued.database.query('delete from pauses');
  });

  const open = async () => (await api().get<{ data: PauseBody[] }>('/v1/operations/pauses')).body.data;
  const pause = async (body: object) => {
    const {
      status,
      text,
      body: made,
    } = await api().call<PauseBody>('POST', '/v1/operations/pauses', {
      reason: 'It is down.',
      ...body,
    });
    if (status !== 201) throw new Error(text);
    return made;
  };
  const end = async (id: string) =>
    expect((await api().call('DELETE', `/v1/operations/pauses/${id}`)).status).toBe(204);
  const statusOf = async (id: string) => (await api().get(`/v1/tasks/${id}`)).body.status;
  const waits = async (id: string) =>
    (await api().get<{ waiting_for: string }>(`/v1/tasks/${id}/estimate`)).body.waiting_for;

  it('keep the tasks of a model waiting, while others run, and let them go on at the end', async () => {
    const { id, models } = await pause({ model: 'gpt-image-2' });
    expect(models).toEqual(['gpt-image-2']);
    await queued.work({ WORKER_CONCURRENCY: '5' });
    const { body: held } = await api().create(aCat);
    const { body: other } = await api().create({ model: 'nano-banana-2', prompt: 'A cat' });
    await api().until(other.task_id, 'succeeded');
    await eventually('the task to be set aside', async () => (await open())[0]?.tasks === 1);
    expect([await statusOf(held.task_id), await waits(held.task_id)]).toEqual(['queued', 'pause']);
    await end(id);
    await api().until(held.task_id, 'succeeded');
    const { body } = await api().get<{ data: { type: string; detail: string }[] }>(
      `/v1/tasks/${held.task_id}/timeline`,
    );
    const moments = body.data.map(({ type, detail }) => (type === 'held' ? `held ${detail}` : type));
    expect(moments.slice(0, 4)).toEqual(['queued', 'held pause', 'released', 'started']);
  });

  it('of the only provider of a model keep its tasks waiting too', async () => {
    const { models } = await pause({ provider: 'sandbox' });
    expect(models).toContain('gpt-image-2');
    await queued.work();
    const { body: held } = await api().create(aCat);
    await eventually('the task to be set aside', async () => (await open())[0]?.tasks === 1);
    expect(await statusOf(held.task_id)).toBe('queued');
    const [ended] = await open();
    await end(ended!.id);
    await api().until(held.task_id, 'succeeded');
  });

  it('of a place hold what only this place serves', async () => {
    const { kind, place, provider } = await pause({ place: 1 });
    expect({ kind, place, provider }).toEqual({ kind: 'place', place: 1, provider: 'sandbox' });
  });

  it('set 10,000 waiting tasks aside, so that a claim reads none of them', async () => {
    await queued.database.query(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, place, parked, waits)
       select 'task_' || lpad(n::text, 26, '0'), 'key_' || n % 7, 'image', 'gpt-image-2', 'queued', '{}', now(),
              now() + interval '1 day', now() + interval '1 day', n / 7, n % 3 = 0, n % 3 > 0 from generate_series(1, 10000) n`,
    );
    await queued.database.query(
      `insert into key_load (api_key_id, queued, max_running)
       select 'key_' || n, 1430, 50 from generate_series(0, 6) n`,
    );
    const { id } = await pause({ model: 'gpt-image-2' });
    await queued.work();
    await eventually('all to be set aside', async () => (await open())[0]?.tasks === 10_000);

    expect(await rowsReadByClaim()).toBe(0);
    expect((await queued.rows(`status = 'running'`)).length).toBe(0);
    await end(id);
    await eventually('all to be released', async () => (await queued.rows('paused_by is not null')).length === 0);
    const { rows: counts } = await queued.database.query('select sum(queued + running)::int as n from key_load');
    expect(counts[0].n).toBeGreaterThan(0);
  });

  interface Node {
    'Relation Name'?: string;
    'Actual Rows': number;
    'Actual Loops': number;
    'Rows Removed by Filter'?: number;
    Plans?: Node[];
  }

  /** Rows of `tasks_live` that a claim looks at. The claim itself is rolled back. */
  async function rowsReadByClaim(): Promise<number> {
    let claim: { text: string; values: unknown[] } | undefined;
    const query = Client.prototype.query;
    Client.prototype.query = function (this: Client, ...args: unknown[]): unknown {
      const sent = args[0] as { name?: string; text: string; values: unknown[] };
      if (sent.name?.startsWith('tasks.claim')) claim = sent;
      return Reflect.apply(query as (...args: unknown[]) => unknown, this, args);
    } as typeof query;
    try {
      await queued.service.app.get(ClaimTasks).claim(200, Date.now(), [], null);
    } finally {
      Client.prototype.query = query;
    }
    await queued.database.query('begin');
    const { rows } = await queued.database.query(`explain (analyze, format json) ${claim!.text}`, claim!.values);
    await queued.database.query('rollback');
    return rowsOfTasks((rows[0] as { 'QUERY PLAN': [{ Plan: Node }] })['QUERY PLAN'][0].Plan);
  }

  const rowsOfTasks = (node: Node): number =>
    (node['Relation Name'] === 'tasks_live'
      ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
      : 0) + (node.Plans ?? []).reduce((sum, child) => sum + rowsOfTasks(child), 0);

  it('end by themselves', async () => {
    const { id } = await pause({ model: 'gpt-image-2', until: Math.floor(Date.now() / 1000) + 3_600 });
    await queued.work(); // a worker that is there already learns of the pause some time later
    const { body } = await api().create(aCat);
    await eventually('the task to be set aside', async () => (await open())[0]?.tasks === 1);
    await queued.database.query('update pauses set until = now() where id = $1', [id]);
    await api().until(body.task_id, 'succeeded');
    await eventually('the pause to end', async () => (await open()).length === 0);
    const { body: audit } = await api().get<{ data: object[] }>(`/v1/operations/audit_events?target_id=${id}`);
    expect(audit.data).toMatchObject([
      { action: 'pause.ended', actor_type: 'service', target_type: 'pause' },
      { action: 'pause.created', actor_type: 'api_key', after: { model: 'gpt-image-2', reason: 'It is down.' } },
    ]);
  });

  it('stand in the audit with the key that ended them', async () => {
    const { id } = await pause({ model: 'gpt-image-2' });
    await end(id);
    const { body } = await api().get<{ data: object[] }>(`/v1/operations/audit_events?target_id=${id}`);
    expect(body.data[0]).toMatchObject({ action: 'pause.ended', actor_type: 'api_key' });
  });

  it('refuse creations if asked to, with Retry-After, and still replay an earlier one', async () => {
    const headers = { 'idempotency-key': 'before' };
    const first = await api().create(aCat, headers);
    await pause({ model: 'gpt-image-2', refuse_creates: true });
    const refused = await api().create<ErrorBody>(aCat);
    expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const batch = await api().call<ErrorBody>('POST', '/v1/batches', { requests: [{ body: aCat }] });
    expect([batch.status, batch.body.error.code]).toEqual([503, 'service_unavailable']);
    const replayed = await api().create(aCat, headers);
    expect([replayed.status, replayed.body.task_id]).toEqual([201, first.body.task_id]);
    expect((await api().create({ model: 'nano-banana-2', prompt: 'A cat' })).status).toBe(201);
  });

  it('free the tasks of a model that they hold no more, however long no worker was there', async () => {
    const { id } = await pause({ model: 'sora-2' });
    const { body: held } = await api().create(aCat);
    await queued.database.query('update tasks_live set parked = true, waits = false, paused_by = $1 where id = $2', [
      id,
      held.task_id,
    ]);
    await queued.database.query(`update pauses set changed_at = now() - interval '5 minutes' where id = $1`, [id]);
    await queued.work();
    await eventually('the task to run', async () => (await statusOf(held.task_id)) === 'succeeded');
  });

  it('hold a started task that its worker gave back, and say why', async () => {
    await queued.work();
    const { body } = await api().create(aHang);
    await api().until(body.task_id, 'running');
    await api().create(aCat); // waits behind it, and is set aside when the worker knows of the pause
    await pause({ provider: 'sandbox' });
    await eventually('the worker to know of the pause', async () => (await open())[0]?.tasks === 1);
    const path = `/v1/operations/tasks/${body.task_id}`;
    expect((await api().call('POST', `${path}/release`)).status).toBe(200);
    const held = await eventually('the hold', async () => {
      const { data } = (await api().get<{ data: { type: string; detail: string }[] }>(`${path}/timeline`)).body;
      return data.find(({ type }) => type === 'held');
    });
    expect([held.detail, await waits(body.task_id)]).toEqual(['pause', 'pause']);
    expect((await api().get<{ losses: number }>(path)).body.losses).toBe(0);
    await api().cancel(body.task_id);
  });

  it('leave a cancel possible', async () => {
    await pause({ model: 'gpt-image-2' });
    await queued.work();
    const { body } = await api().create(aCat);
    await eventually('the task to be set aside', async () => (await open())[0]?.tasks === 1);
    await api().cancel(body.task_id);
    expect(await statusOf(body.task_id)).toBe('failed');
    expect((await open())[0]?.tasks).toBe(0);
    const { rows } = await queued.database.query('select sum(queued)::int as n from key_load');
    expect(rows).toEqual([{ n: 0 }]);
  });

  it.each([
    [{}, 400, 'missing_required_parameter'],
    [{ model: 'gpt-image-2' }, 400, 'missing_required_parameter'],
    [{ model: 'unknown', reason: 'x' }, 400, 'invalid_value'],
    [{ model: 'gpt-image-2', provider: 'sandbox', reason: 'x' }, 400, 'invalid_value'],
    [{ provider: 'nobody', reason: 'x' }, 400, 'invalid_value'],
    [{ place: 99, reason: 'x' }, 400, 'invalid_value'],
    [{ model: 'gpt-image-2', reason: 'x', until: 1 }, 400, 'value_out_of_range'],
    [{ model: 'gpt-image-2', reason: 'x', other: 1 }, 400, 'unknown_parameter'],
  ])('refuse %j', async (body, status, code) => {
    const refused = await api().call<ErrorBody>('POST', '/v1/operations/pauses', body);
    expect([refused.status, refused.body.error.code]).toEqual([status, code]);
    expect(await open()).toEqual([]);
  });

  it('that are unknown or have ended cannot be ended', async () => {
    const { id } = await pause({ model: 'sora-2' });
    await end(id);
    for (const gone of [id, 'unknown', 'pause_%00']) {
      const { status, body } = await api().call<ErrorBody>('DELETE', `/v1/operations/pauses/${gone}`);
      expect([status, body.error.code]).toEqual([404, 'pause_not_found']);
    }
  });
});
