import { existsSync } from 'node:fs';
import { Client } from 'pg';
import { fileIdOf } from '../../src/tasks/record/task-id.ts';
import { REPLACE_RESULT, valuesOf } from '../../src/tasks/sql/replace-result.ts';
import { aCat, aFailure, aHang, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { aPicture } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { joinSecondProcess, joinService, type SharedService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const DAY_S = 86_400;

interface FileBody {
  expires_at: number | null;
  kept: boolean;
  collection: string | null;
  url: string | null;
}

describe('what is kept', () => {
  let service: SharedService;
  /** Another process of the same deployment. */
  let other: string;
  let database: Client;
  beforeAll(async () => {
    service = await joinService();
    other = await joinSecondProcess(service);
    database = new Client({ connectionString: service.database.url });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await service?.close();
  });

  const tenantWith = async (settings: object = {}) =>
    new Api(service.baseUrl, (await anotherKey(service.api, settings)).key);
  const made = async (api: Api, n = 1): Promise<TaskBody> =>
    api.untilFinal((await api.create({ ...aCat, n })).body.task_id);
  const outputsOf = ({ result }: TaskBody) => result!.outputs as unknown as (FileBody & { id: string })[];
  const keep = <Body = TaskBody>(api: Api, path: string, body: object = {}) =>
    api.call<Body>('PUT', `/v1/${path}/keep`, body);
  const giveUp = <Body = TaskBody>(api: Api, path: string) => api.call<Body>('DELETE', `/v1/${path}/keep`);
  const codeOf = ({ status, body }: { status: number; body: unknown }) => [status, (body as ErrorBody).error?.code];
  /** As if the task had been made that long ago. */
  const age = (id: string, interval: string) =>
    database.query(
      `update tasks_done set unkept_expires_at = unkept_expires_at - $2::interval,
              unkept_files_expire_at = unkept_files_expire_at - $2::interval where id = $1`,
      [id, interval],
    );
  const idsOf = async (api: Api, query: string) =>
    (await api.get<{ data: TaskBody[] }>(`/v1/tasks?${query}`)).body.data.map(({ task_id }) => task_id);

  it('has no end, and has its old one again once it is given up', async () => {
    const api = await tenantWith();
    const before = await made(api, 2);
    const kept = await keep(api, `tasks/${before.task_id}`, { collection: 'Covers' });
    expect(kept.status).toBe(200);
    expect(kept.body).toMatchObject({
      kept: true,
      collection: 'Covers',
      expires_at: null,
      result: { expires_at: null },
    });
    expect(outputsOf(kept.body).map((output) => [output.kept, output.collection])).toEqual([
      [true, 'Covers'],
      [true, 'Covers'],
    ]);
    const { body } = await api.get(`/v1/tasks/${before.task_id}`);
    expect(body).toEqual(kept.body);
    const given = await giveUp(api, `tasks/${before.task_id}`);
    expect(given.body).toEqual(before);
    expect((await giveUp(api, `tasks/${before.task_id}`)).body).toEqual(before);
  });

  it('takes no body, and another name moves it', async () => {
    const api = await tenantWith();
    const { task_id } = await made(api);
    expect((await api.call('PUT', `/v1/tasks/${task_id}/keep`)).body).toMatchObject({ kept: true, collection: null });
    expect((await keep(api, `tasks/${task_id}`, { collection: 'A' })).body.collection).toBe('A');
    expect((await keep(api, `tasks/${task_id}`, { collection: null })).body.collection).toBe(null);
    expect(codeOf(await keep(api, `tasks/${task_id}`, { collection: 'x'.repeat(65) }))).toEqual([
      400,
      'string_too_long',
    ]);
    expect(codeOf(await keep(api, `tasks/${task_id}`, { name: 'A' }))).toEqual([400, 'unknown_parameter']);
  });

  it('stays for another day if its time was over meanwhile', async () => {
    const api = await tenantWith();
    const { task_id } = await made(api);
    await keep(api, `tasks/${task_id}`);
    await age(task_id, '400 days');
    const startS = Math.floor(Date.now() / 1000);
    const { body } = await giveUp(api, `tasks/${task_id}`);
    const endS = Math.ceil(Date.now() / 1000);
    for (const end of [body.expires_at as number, body.result!.expires_at]) {
      expect(end).toBeGreaterThanOrEqual(startS + DAY_S);
      expect(end).toBeLessThanOrEqual(endS + DAY_S);
    }
    expect((await fetch(body.result!.outputs[0]!.url)).status).toBe(200);
  });

  it('counts as a creation on every road, as each change is recorded for 400 days', async () => {
    const { id, key } = await anotherKey(service.api, { limits: { creates_per_minute: 9 } });
    const api = new Api(service.baseUrl, key);
    const { task_id } = await api.untilFinal((await api.create(aCat)).body.task_id);
    await database.query(
      `insert into rate_windows (api_key_id, bucket, ends_at, taken) values ($1, 'create', now() + interval '1 hour', 0)
       on conflict (api_key_id, bucket) do update set ends_at = excluded.ends_at`,
      [id],
    );
    const taken = async () =>
      (await database.query('select taken from rate_windows where api_key_id = $1 and bucket = $2', [id, 'create']))
        .rows[0].taken;
    const graphql = new GraphqlClient(service.baseUrl, key);
    const roads = [
      () => keep(api, `tasks/${task_id}`),
      () => giveUp(api, `tasks/${task_id}`),
      () => keep(api, `files/${fileIdOf(task_id, 0)}`),
      () => giveUp(api, `files/${fileIdOf(task_id, 0)}`),
      () => graphql.ask(`mutation { keepTask(taskId: "${task_id}") { taskId } }`),
      () => graphql.ask(`mutation { unkeepTask(taskId: "${task_id}") { taskId } }`),
      () => graphql.ask(`mutation { keepFile(id: "${fileIdOf(task_id, 0)}") { id } }`),
      () => graphql.ask(`mutation { unkeepFile(id: "${fileIdOf(task_id, 0)}") { id } }`),
    ];
    const before = Number(await taken());
    for (const road of roads) await road();
    expect(Number(await taken())).toBe(before + roads.length);
    expect(codeOf(await keep(api, `tasks/${task_id}`))).toEqual([429, 'rate_limit_exceeded']);
    const mcp = await api.call<{ result: { content: { text: string }[] } }>(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'keep_task', arguments: { task_id } } },
      { accept: 'application/json' },
    );
    expect(mcp.body.result.content[0]!.text).toContain('rate_limit_exceeded');
  });

  it('may be one output: its task stays with it, and the other output goes at its time', async () => {
    const api = await tenantWith();
    const before = await made(api, 2);
    const [first, second] = outputsOf(before);
    const kept = await keep<FileBody>(api, `files/${first!.id}`, { collection: 'Best' });
    expect(kept.body).toMatchObject({ kept: true, collection: 'Best', expires_at: null });
    const task = await api.get(`/v1/tasks/${before.task_id}`);
    expect(task.body).toMatchObject({
      kept: true,
      collection: null,
      expires_at: null,
      result: { expires_at: before.result!.expires_at, outputs: [{ kept: true }, { kept: false, collection: null }] },
    });
    const file = await api.get<FileBody>(`/v1/files/${second!.id}`);
    expect(file.body).toMatchObject({ kept: false, expires_at: before.result!.expires_at });

    await database.query(
      `update tasks_done set output_expires_at = now() - interval '1 minute', sequence = sequence + 1,
         result = jsonb_set(result::jsonb, '{1,expires_at}', to_jsonb(extract(epoch from now()) - 60))::json where id = $1`,
      [before.task_id],
    );
    const there = new Api(other, api.key); // it has nothing of the task in memory
    const after = await there.get(`/v1/tasks/${before.task_id}`);
    expect(outputsOf(after.body).map(({ url }) => url !== null)).toEqual([true, false]);
    expect(codeOf(await keep(api, `files/${second!.id}`))).toEqual([410, 'file_expired']);
    const folder = `${service.env.DATA_DIR}/files/${before.task_id}`;
    await eventually('the purge', () => Promise.resolve(!existsSync(`${folder}/1-1.png`)));
    await eventually(
      'its end',
      async () => outputsOf((await there.get(`/v1/tasks/${before.task_id}`)).body)[1]!.url === null,
    );
    expect(existsSync(`${folder}/1-0.png`)).toBe(true);

    const given = await giveUp<FileBody>(api, `files/${first!.id}`);
    expect(given.body).toMatchObject({ kept: false, collection: null, expires_at: before.result!.expires_at });
    expect((await api.get(`/v1/tasks/${before.task_id}`)).body).toMatchObject({
      kept: false,
      expires_at: before.expires_at,
    });
  });

  it('is deleted on request, and its task is given up with its last output', async () => {
    const api = await tenantWith();
    const before = await made(api);
    await keep(api, `tasks/${before.task_id}`);
    const [{ id } = { id: '' }] = outputsOf(before);
    expect((await api.call('DELETE', `/v1/files/${id}`)).status).toBe(200);
    const { body } = await api.get(`/v1/tasks/${before.task_id}`);
    expect(body).toMatchObject({ kept: false, expires_at: before.expires_at });
    expect(outputsOf(body)[0]).toMatchObject({ kept: false, url: null });
    await keep(api, `tasks/${before.task_id}`);
    expect((await api.call('DELETE', `/v1/tasks/${before.task_id}`)).status).toBe(200);
    expect((await api.get(`/v1/tasks/${before.task_id}`)).status).toBe(404);
    expect(codeOf(await keep(api, `tasks/${before.task_id}`))).toEqual([404, 'task_not_found']);
  });

  it('passes no purge, although an old program knows nothing of it', async () => {
    const api = await tenantWith();
    const { task_id } = await made(api);
    await keep(api, `tasks/${task_id}`);
    const { rows } = await database.query(
      `select expires_at > now() + interval '1000 years' as record, files_expire_at > now() + interval '1000 years' as files
       from tasks_done where id = $1`,
      [task_id],
    );
    expect(rows).toEqual([{ record: true, files: true }]);
  });

  it('is a final task: of an unfinished one, of another key and of none there is nothing to keep', async () => {
    const api = await tenantWith();
    const { body: hanging } = await api.create(aHang);
    expect(codeOf(await keep(api, `tasks/${hanging.task_id}`))).toEqual([409, 'task_unfinished']);
    expect(codeOf(await giveUp(api, `tasks/${hanging.task_id}`))).toEqual([409, 'task_unfinished']);
    await api.cancel(hanging.task_id);
    const cancelled = await keep(api, `tasks/${hanging.task_id}`, { collection: 'Odd' });
    expect(cancelled.body).toMatchObject({ kept: true, status: 'failed', expires_at: null });
    const stranger = await tenantWith();
    expect(codeOf(await keep(stranger, `tasks/${hanging.task_id}`))).toEqual([404, 'task_not_found']);
    expect(codeOf(await keep(stranger, 'tasks/none'))).toEqual([404, 'task_not_found']);
    expect(codeOf(await keep(stranger, 'files/none'))).toEqual([404, 'file_not_found']);
    const { task_id } = await made(api);
    expect(codeOf(await keep(stranger, `files/${fileIdOf(task_id, 0)}`))).toEqual([404, 'file_not_found']);
    const picture = Buffer.from(
      await (await fetch(outputsOf((await api.get(`/v1/tasks/${task_id}`)).body)[0]!.url!)).arrayBuffer(),
    );
    const form = new FormData();
    form.append('file', new Blob([picture], { type: 'image/png' }), 'cat.png');
    const headers = { authorization: `Bearer ${api.key}` };
    const upload = await fetch(new URL('/v1/files', service.baseUrl), { method: 'POST', headers, body: form });
    const { id } = (await upload.json()) as { id: string };
    expect(codeOf(await keep(api, `files/${id}`))).toEqual([400, 'invalid_value']);
  });

  it('is found by filters, over REST and GraphQL', async () => {
    const api = await tenantWith();
    const [one, two, three] = [await made(api), await made(api, 2), await made(api)];
    await keep(api, `tasks/${one.task_id}`, { collection: 'A' });
    await keep(api, `files/${outputsOf(two)[1]!.id}`, { collection: 'B' });
    expect(await idsOf(api, 'kept=true')).toEqual([two.task_id, one.task_id]);
    expect(await idsOf(api, 'kept=false')).toEqual([three.task_id]);
    expect(await idsOf(api, 'collection=A')).toEqual([one.task_id]);
    expect(await idsOf(api, 'collection=B&order=asc')).toEqual([two.task_id]);
    expect(await idsOf(api, 'collection=B&kept=true&kind=image&search=cat')).toEqual([two.task_id]);
    expect(await idsOf(api, 'collection=C')).toEqual([]);
    const counts = await api.get<{ succeeded: number }>('/v1/tasks/counts?kept=true');
    expect(counts.body.succeeded).toBe(2);
    const graphql = new GraphqlClient(service.baseUrl, api.key);
    const { data } = await graphql.ask<{ tasks: { edges: { node: object }[] } }>(
      '{ tasks(first: 5, filter: { collection: "A" }) { edges { node { taskId kept collection expiresAt result { expiresAt outputs { kept collection } } } } } }',
    );
    expect(data.tasks.edges.map(({ node }) => node)).toEqual([
      {
        taskId: one.task_id,
        kept: true,
        collection: 'A',
        expiresAt: null,
        result: { expiresAt: null, outputs: [{ kept: true, collection: 'A' }] },
      },
    ]);
  });

  it('has a quota of bytes, which stars at once do not pass, in two processes', async () => {
    const api = await tenantWith({ limits: { max_kept_bytes: 1_500 } });
    const tasks = await Promise.all([made(api), made(api), made(api)]);
    const ids = tasks.map(({ task_id }) => task_id);
    await database.query(
      `update tasks_done set result = jsonb_set(result::jsonb, '{0,size_bytes}', '1000')::json where id = any($1)`,
      [ids],
    );
    const there = new Api(other, api.key);
    const kept = await Promise.all(ids.map((id, at) => keep(at === 1 ? there : api, `tasks/${id}`)));
    expect(kept.map(({ status }) => status).toSorted()).toEqual([200, 403, 403]);
    const refused = kept.filter(({ status }) => status === 403);
    for (const answer of refused) expect(codeOf(answer)).toEqual([403, 'kept_quota_exceeded']);
    const [winner] = await idsOf(api, 'kept=true');
    expect((await keep(api, `tasks/${winner}`, { collection: 'Moved' })).status).toBe(200);
    await giveUp(api, `tasks/${winner}`);
    const another = ids.find((id) => id !== winner);
    expect((await keep(api, `files/${fileIdOf(another!, 0)}`)).status).toBe(200);
  });

  it('counts for the keys above, which together keep no more than one of them', async () => {
    const settings = { limits: { max_kept_bytes: 1_500 }, scopes: ['keys:manage', 'generations:write', 'tasks:read'] };
    const maker = await tenantWith(settings);
    const keys = await Promise.all(
      [1, 2].map(async () => new Api(service.baseUrl, (await anotherKey(maker, settings)).key)),
    );
    const tasks = await Promise.all([made(maker), ...keys.map((api) => made(api))]);
    const ids = tasks.map(({ task_id }) => task_id);
    await database.query(
      `update tasks_done set result = jsonb_set(result::jsonb, '{0,size_bytes}', '1000')::json where id = any($1)`,
      [ids],
    );
    const kept = await Promise.all([maker, ...keys].map((api, at) => keep(api, `tasks/${ids[at]}`)));
    expect(kept.map((answer) => (answer.status === 200 ? 200 : codeOf(answer)[1])).toSorted()).toEqual([
      200,
      'kept_quota_exceeded',
      'kept_quota_exceeded',
    ]);
    const winner = kept.findIndex(({ status }) => status === 200);
    await giveUp([maker, ...keys][winner]!, `tasks/${ids[winner]}`);
    const next = (winner + 1) % 3;
    expect((await keep([maker, ...keys][next]!, `tasks/${ids[next]}`)).status).toBe(200);
  });

  it('is at most 10,000 tasks of a key and of those below it together', async () => {
    const settings = { limits: { max_kept_bytes: 1e12 }, scopes: ['keys:manage', 'generations:write', 'tasks:read'] };
    const maker = await tenantWith(settings);
    const child = new Api(service.baseUrl, (await anotherKey(maker, settings)).key);
    const [{ task_id }, other] = [await made(maker), await made(child)];
    await keep(maker, `tasks/${task_id}`);
    const inserted = await database.query<{ id: string }>(
      `insert into tasks_done
       select (jsonb_populate_record(t, jsonb_build_object('id', 'task_' || substr(md5($1 || n), 1, 26)))).*
       from tasks_done t, generate_series(1, 9999) n where t.id = $1 returning id`,
      [task_id],
    );
    expect(codeOf(await keep(child, `tasks/${other.task_id}`))).toEqual([403, 'kept_quota_exceeded']);
    await database.query('delete from tasks_done where id = any($1)', [inserted.rows.map(({ id }) => id)]);
    expect((await keep(child, `tasks/${other.task_id}`)).status).toBe(200);
  });

  it('is given up at once, while others of the key are being kept', async () => {
    const api = await tenantWith();
    const { task_id } = await made(api);
    await keep(api, `tasks/${task_id}`);
    await database.query('begin');
    await database.query(
      `select pg_advisory_xact_lock(hashtextextended('kept ' || (select api_key_id from tasks_done where id = $1), 0))`,
      [task_id],
    );
    const { status, body } = await giveUp(api, `tasks/${task_id}`);
    await database.query('rollback');
    expect([status, body.kept]).toEqual([200, false]);
  });

  it('is in the list of who did what, once for each change', async () => {
    const api = await tenantWith();
    const { task_id } = await made(api);
    for (const collection of ['A', 'A', 'B']) await keep(api, `tasks/${task_id}`, { collection }); // whose names are not recorded
    await giveUp(api, `tasks/${task_id}`);
    const { body } = await service.api.get<{ data: object[] }>(`/v1/operations/audit_events?target_id=${task_id}`);
    expect(body.data).toMatchObject([
      { action: 'task.unkept', before: { kept: true }, after: { kept: false, file_ids: [] } },
      { action: 'task.kept', after: { kept: true, file_ids: [fileIdOf(task_id, 0)] } },
    ]);
    expect(JSON.stringify(body)).not.toContain('collection');
    const operator = new GraphqlClient(service.baseUrl, service.api.key);
    const count = async (only: boolean) => {
      const list = await service.api.get<{ data: object[] }>(
        `/v1/operations/audit_events?target_id=${task_id}&keeps_and_shares=${only}`,
      );
      const graph = await operator.ask<{ operations: { auditEvents: { edges: object[] } } }>(
        `{ operations { auditEvents(targetId: "${task_id}", keepsAndShares: ${only}) { edges { node { id } } } } }`,
      );
      return [list.body.data.length, graph.data.operations.auditEvents.edges.length];
    };
    expect([await count(true), await count(false)]).toEqual([
      [2, 2],
      [0, 0],
    ]);
  });

  it('is given up, as the list says, by whoever deletes its last output', async () => {
    const api = await tenantWith();
    const { task_id } = await made(api, 2);
    for (const index of [0, 1]) await keep(api, `files/${fileIdOf(task_id, index)}`);
    for (const index of [0, 1, 1]) await api.call('DELETE', `/v1/files/${fileIdOf(task_id, index)}`);
    expect((await api.get(`/v1/tasks/${task_id}`)).body).toMatchObject({ kept: false });
    const { body } = await service.api.get<{ data: object[] }>(`/v1/operations/audit_events?target_id=${task_id}`);
    const [first, second] = [0, 1].map((index) => fileIdOf(task_id, index));
    expect(body.data).toMatchObject([
      { action: 'task.unkept', before: { kept: true, file_ids: [second] }, after: { kept: false, file_ids: [] } },
      { action: 'task.unkept', before: { kept: true, file_ids: [first, second] }, after: { file_ids: [second] } },
      { action: 'task.kept' },
      { action: 'task.kept' },
    ]);
  });

  it('does not come back when its task is deleted while an output changes', async () => {
    const api = await tenantWith();
    const { task_id } = await made(api, 2);
    await keep(api, `files/${fileIdOf(task_id, 0)}`);
    const { rows } = await database.query('select result, sequence from tasks_done where id = $1', [task_id]);
    await api.call('DELETE', `/v1/tasks/${task_id}`);
    const change = valuesOf(task_id, rows[0].sequence, { result: rows[0].result, kept: true, collection: null });
    expect((await database.query(REPLACE_RESULT.text, change)).rows).toEqual([]);
    expect((await api.get(`/v1/tasks/${task_id}`)).status).toBe(404);
  });

  it('keeps the pictures of its request too, for a retry', async () => {
    const api = await tenantWith();
    const picture = `data:image/png;base64,${(await aPicture(64, 64)).toString('base64')}`;
    const { task_id } = await api.untilFinal((await api.create({ ...aCat, reference_images: [picture] })).body.task_id);
    await keep(api, `tasks/${task_id}`);
    const years = 'select extract(year from expires_at)::int as year from uploads where task_id = $1';
    expect((await database.query(years, [task_id])).rows).toEqual([{ year: 9999 }]);
  });

  it.each([' ', 'A\u0007', 'a'.repeat(65)])('has a collection with a name, and %j is none', async (collection) => {
    const api = await tenantWith();
    const { task_id } = await api.untilFinal((await api.create(aFailure)).body.task_id);
    expect((await keep(api, `tasks/${task_id}`, { collection })).status).toBe(400);
  });

  it('is seen by another process that has the task in memory', async () => {
    const api = await tenantWith();
    const task = await api.untilFinal((await api.create(aFailure)).body.task_id);
    const there = new Api(other, api.key);
    const path = `/v1/tasks/${task.task_id}`;
    const { headers } = await there.get(path);
    await keep(api, `tasks/${task.task_id}`);
    await eventually('the other process', async () => (await there.get(path)).body.kept === true);
    expect((await there.get(path, { 'if-none-match': headers.get('etag')! })).status).toBe(200);
  });

  it('goes with the erasure of its key', async () => {
    const { id, key } = await anotherKey(service.api);
    const api = new Api(service.baseUrl, key);
    const { task_id } = await made(api);
    await keep(api, `tasks/${task_id}`);
    await database.query(`update tasks_done set completed_at = completed_at - interval '1 hour' where id = $1`, [
      task_id,
    ]);
    expect((await service.api.call('DELETE', `/v1/api_keys/${id}?erase=true`)).status).toBe(202);
    await eventually('the erasure', async () => {
      const { rows } = await database.query('select from tasks_done where id = $1', [task_id]);
      return rows.length === 0;
    });
    expect(existsSync(`${service.env.DATA_DIR}/files/${task_id}`)).toBe(false);
  });
});
