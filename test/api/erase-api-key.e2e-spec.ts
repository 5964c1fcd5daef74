// Own settings: a database in which every column is searched.
import { Client, Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { ErasureLost, ErasureRows } from '../../src/auth/erasure/sql/erasure-rows.ts';
import { Sql, type Statement } from '../../src/platform/database/sql.ts';
import { RollUp } from '../../src/usage/sql/roll-up.ts';
import { aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { Browser } from '../support/clients/browser.ts';
import { aPicture, FilesClient } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { SlowForm } from '../support/clients/slow-form.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { cloneDatabase } from '../support/database.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { columnsWith, filesWith, searchedColumns } from '../support/text-search.ts';
import { eventually } from '../support/wait.ts';

export interface ErasureBody {
  id: string;
  object: string;
  api_key_id: string;
  status: string;
  counts: Record<string, number>;
  out_of_reach: string[];
  created_at: number;
  created_by: string | null;
  finished_at: number | null;
}

describe('DELETE /v1/api_keys/{id}?erase=true', () => {
  let service: OwnService;
  let database: Client;
  let receiver: Receiver;
  beforeAll(async () => {
    service = await startOwnService({ TASK_SWEEP_S: '0.5', WORKER_CONCURRENCY: '8' });
    receiver = await Receiver.start();
    database = new Client({ connectionString: service.database.url });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await receiver?.stop();
    await service?.close();
  });

  const erase = <Body = ErasureBody>(id: string, query = '?erase=true', api = service.api) =>
    api.call<Body>('DELETE', `/v1/api_keys/${id}${query}`);
  const read = async (id: string) => (await service.api.get<ErasureBody>(`/v1/erasures/${id}`)).body;
  const filesFolder = () => `${service.env.DATA_DIR}/files`;

  /** Leaves the text wherever a key can leave one. */
  async function keyFullOf(text: string) {
    const { id, key } = await anotherKey(service.api, { name: `name ${text}` });
    const api = new Api(service.baseUrl, key);
    const endpoints = new WebhookClient(api);
    const endpoint = await endpoints.endpoint(`${receiver.url}/${text}`, { description: `description ${text}` });
    await endpoints.test(endpoint.id);

    const prompt = { model: 'gpt-image-2', prompt: `prompt ${text}`, metadata: { [`key-${text}`]: `value ${text}` } };
    const headers = { 'idempotency-key': `idempotency-${text}`, 'x-request-id': `request-${text}` };
    const { body: made } = await api.create(prompt, headers);
    const task = await api.untilFinal(made.task_id);
    expect(task.status).toBe('succeeded');

    const files = new FilesClient(api);
    const picture = await files.upload(await aPicture(), {}, { name: `file ${text}.png`, type: 'image/png' });
    expect(picture.status).toBe(201);
    const line = { custom_id: `custom ${text}`, method: 'POST', url: '/v1/generations', body: prompt };
    const lines = await files.upload(
      JSON.stringify(line) + '\n',
      { purpose: 'batch' },
      { name: `lines ${text}.jsonl`, type: 'application/jsonl' },
    );
    expect(lines.status).toBe(201);
    const batches = new BatchClient(api);
    const { body: batch } = await batches.create({ input_file_id: lines.body.id, metadata: { of: text } });
    await batches.untilEnded(batch.id);

    const fileIds = { file_ids: [picture.body.id, task.result!.outputs[0]!.id] };
    const end = { expires_at: Math.floor(Date.now() / 1000) + 3600 };
    const { body: share } = await api.call<{ url: string }>('POST', '/v1/shares', {
      ...fileIds,
      ...end,
      show_prompt: true,
    });
    expect(await (await fetch(share.url)).text()).toContain(`prompt ${text}`);

    const browser = new Browser(service.baseUrl);
    const signedIn = await browser.call('POST', '/v1/session', { api_key: key }, { 'user-agent': `Browser ${text}` });
    expect(signedIn.status).toBe(201);
    await endpoints.ended(endpoint.id, 3); // the test, the task, the batch or its item
    // Answers of receivers on private addresses, as those of this test, are not kept.
    await database.query(`update webhook_deliveries set response_snippet = $2 where endpoint_id = $1`, [
      endpoint.id,
      `answer ${text}`,
    ]);
    const run = async ({ text: statement }: Statement, values: unknown[]) =>
      (await database.query(statement, values)).rows;
    await eventually('the usage to be summed', async () => {
      await new RollUp({ run } as Sql).next();
      return (await columnsWith(database, text)).includes('usage_sums.metadata_value');
    });
    return { id, api, link: task.result!.outputs[0]!.url, share: share.url, task };
  }

  /** As if the key had been revoked, and its tasks had ended, a while ago: until then an erasure waits. */
  async function letTimePass(apiKeyId: string) {
    await eventually('no task to be under way', async () => {
      const { rows } = await database.query(
        `select 1 from tasks where api_key_id = $1 and status in ('queued', 'running')`,
        [apiKeyId],
      );
      return rows.length === 0;
    });
    await database.query(
      `update tasks_done set completed_at = completed_at - interval '10 minutes' where api_key_id = $1`,
      [apiKeyId],
    );
    await database.query(`update erasures set created_at = created_at - interval '2 minutes' where api_key_id = $1`, [
      apiKeyId,
    ]);
  }

  it('leaves none of the texts of the key in the database or the storage, and nothing of another key is touched', async () => {
    const text = 'canary7f3a';
    const other = 'neighbour5c1d';
    const neighbour = await keyFullOf(other);
    const victim = await keyFullOf(text);
    const queued = await victim.api.create({ ...aHang, metadata: { late: text } });
    await victim.api.until(queued.body.task_id, 'running');

    // The search finds what is there: each kind of text, in many columns.
    expect(await searchedColumns(database)).toBeGreaterThan(150);
    const before = await columnsWith(database, text);
    expect(before).toEqual(
      expect.arrayContaining([
        'api_keys.name',
        'audit_events.after',
        'batches.metadata',
        'idempotency_keys.key',
        'sessions.user_agent',
        'tasks_done.custom_id',
        'tasks_done.input',
        'tasks_done.metadata',
        'tasks_done.request_id',
        'uploads.filename',
        'usage_ledger.metadata',
        'usage_sums.metadata_key',
        'usage_sums.metadata_value',
        'webhook_deliveries.response_snippet',
        'webhook_deliveries.url',
        'webhook_endpoints.description',
        'webhook_endpoints.url',
        'webhook_events.body',
      ]),
    );
    expect(filesWith(filesFolder(), text).length).toBeGreaterThan(0);
    expect((await fetch(victim.link)).status).toBe(200);

    const { status, body, headers } = await erase(victim.id);
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/v1/erasures/${body.id}`);
    expect(body).toMatchObject({ object: 'erasure', api_key_id: victim.id, status: 'running', finished_at: null });
    expect(body.out_of_reach).toEqual(
      expect.arrayContaining(['providers', 'webhook_receivers', 'backups', 'bucket_versions', 'logs']),
    );
    expect((await victim.api.get<ErrorBody>('/v1/tasks')).body.error.code).toBe('api_key_revoked');
    expect((await fetch(victim.share)).status).toBe(410);
    await eventually('the link to lead nowhere', async () => (await fetch(victim.link)).status !== 200);
    // Tasks that have just ended stay hidden for a while: a worker may still write their files.
    expect((await read(body.id)).status).toBe('running');

    await letTimePass(victim.id);
    const done = await eventually('the erasure to end', async () => {
      const erasure = await read(body.id);
      return erasure.status === 'completed' && erasure;
    });
    expect(done.finished_at).toBeGreaterThanOrEqual(done.created_at);
    expect(done.counts).toMatchObject({
      tasks: 3,
      files: 2,
      uploads: 2,
      shares: 1,
      idempotency_keys: 1,
      batches: 1,
      webhook_endpoints: 1,
      sessions: 1,
      usage_records: 3,
    });
    expect(done.counts.webhook_deliveries).toBeGreaterThanOrEqual(3);
    expect(done.counts.webhook_events).toBeGreaterThanOrEqual(3);
    expect(done.counts.audit_events).toBeGreaterThanOrEqual(2);

    expect(await columnsWith(database, text)).toEqual([]);
    expect(filesWith(filesFolder(), text)).toEqual([]);
    expect(filesWith(filesFolder(), victim.id)).toEqual([]);
    expect(filesWith(filesFolder(), victim.task.task_id)).toEqual([]);
    const shares = await database.query('select 1 from shares where api_key_id = $1', [victim.id]);
    expect(shares.rows).toEqual([]);
    // What it used, and so its money, is still known.
    const { rows } = await database.query(
      `select count(*)::int as tasks, sum(images)::int as images from usage_ledger where api_key_id = $1`,
      [victim.id],
    );
    expect(rows).toEqual([{ tasks: 3, images: 2 }]);

    // The victim alone had an unfinished task. A minute after its end, the words of a task have entered the index.
    const ofBoth = before.filter((column) => column !== 'tasks_live.metadata');
    expect(await columnsWith(database, other)).toEqual(expect.arrayContaining(ofBoth));
    expect((await fetch(neighbour.link)).status).toBe(200);
    expect((await fetch(neighbour.share)).status).toBe(200);
    expect((await neighbour.api.get(`/v1/tasks/${neighbour.task.task_id}`)).status).toBe(200);
  });

  it('refuses a form that began before it', async () => {
    const text = 'canary4d2e';
    const { id, key } = await anotherKey(service.api);
    const form = new SlowForm(`${service.baseUrl}/v1/files`, key, `slow ${text}.png`);
    await form.begin(await aPicture());
    const { body } = await erase(id);
    await letTimePass(id);
    await eventually('the erasure to end', async () => (await read(body.id)).status === 'completed');
    expect(await form.end()).toBe(401);
    expect(await columnsWith(database, text)).toEqual([]);
    expect(filesWith(filesFolder(), id)).toEqual([]);
  });

  it('waits for no link to upload, which receives nothing once the key is revoked', async () => {
    const { id, key } = await anotherKey(service.api);
    const files = new FilesClient(new Api(service.baseUrl, key));
    const png = await aPicture();
    const [empty, full] = [await files.announce(png), await files.announce(png)];
    expect((await files.put(full, png)).status).toBe(200);
    expect((await erase(id, '')).status).toBe(204);
    expect((await files.put(empty, png)).status).toBe(410);
    const { body } = await erase(id);
    await letTimePass(id);
    await eventually('the erasure to end', async () => (await read(body.id)).status === 'completed');
    expect(filesWith(filesFolder(), id)).toEqual([]);
    for (const each of [empty, full]) expect((await files.put(each, png)).status).toBe(410);
    expect(filesWith(filesFolder(), id)).toEqual([]);
  });

  it('is the same over GraphQL, and a repetition is the first erasure', async () => {
    const { id } = await anotherKey(service.api);
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const fields = 'id apiKeyId status outOfReach createdAt createdBy finishedAt counts { tasks usageRecords }';
    const { data } = await graphql.ask<{ eraseApiKey: { id: string; apiKeyId: string } }>(
      `mutation { eraseApiKey(id: "${id}") { ${fields} } }`,
    );
    const { body: again, status } = await erase(id);
    expect([status, again.id]).toEqual([202, data.eraseApiKey.id]);
    const { data: one } = await graphql.ask<{ erasure: object }>(`{ erasure(id: "${again.id}") { ${fields} } }`);
    expect(one.erasure).toMatchObject({ apiKeyId: id, status: 'RUNNING', counts: { tasks: 0, usageRecords: 0 } });
    const { data: all } = await graphql.ask<{ erasures: { edges: { node: { id: string } }[] } }>(
      '{ erasures(first: 1) { edges { node { id } } } }',
    );
    const { body: list } = await service.api.get<{ data: ErasureBody[] }>('/v1/erasures?limit=1');
    expect(all.erasures.edges[0]!.node.id).toBe(again.id);
    expect(list.data).toEqual([expect.objectContaining({ id: again.id, created_by: expect.stringMatching(/^key_/) })]);

    const { rows } = await database.query(
      `select action, actor_type from audit_events where target_id = $1 order by id`,
      [id],
    );
    expect(rows.map(({ action }) => action)).toEqual(['api_key.created', 'api_key.erased']);
  });

  it('also erases a key that was revoked before, and leaves no key that works', async () => {
    const { id, key } = await anotherKey(service.api, { name: 'canary91e0' });
    expect((await erase(id, '')).status).toBe(204);
    const { status, body } = await erase(id);
    expect(status).toBe(202);
    await letTimePass(id);
    await eventually('the erasure to end', async () => (await read(body.id)).status === 'completed');
    expect(await columnsWith(database, 'canary91e0')).toEqual([]);
    expect((await new Api(service.baseUrl, key).get<ErrorBody>('/v1/tasks')).body.error.code).toBe('api_key_revoked');
    expect((await erase(id)).body).toMatchObject({ id: body.id, status: 'completed' });
  });

  it('leaves the keys that it has made, what the audit says of them, and why it has paused a model', async () => {
    const parent = await anotherKey(service.api, { scopes: ['keys:manage', 'tasks:read', 'operations:manage'] });
    const parentApi = new Api(service.baseUrl, parent.key);
    const child = await anotherKey(parentApi, { name: 'child canary57d2', scopes: ['tasks:read'] });
    const pause = { model: 'sora-2', reason: 'reason canary57d2' };
    expect((await parentApi.call('POST', '/v1/operations/pauses', pause)).status).toBe(201);
    const { body } = await erase(parent.id);
    await letTimePass(parent.id);
    await eventually('the erasure to end', async () => (await read(body.id)).status === 'completed');
    expect((await new Api(service.baseUrl, child.key).get('/v1/tasks')).status).toBe(200);
    expect(await columnsWith(database, 'canary57d2')).toEqual(
      expect.arrayContaining(['api_keys.name', 'audit_events.after', 'pauses.reason']),
    );
  });

  it('refuses what it cannot do', async () => {
    const codeOf = ({ status, body }: { status: number; body: ErrorBody }) => [
      status,
      body.error.code,
      body.error.param,
    ];
    expect(codeOf(await erase<ErrorBody>('key_01jd8e5t9kf3qs7m2v4xw6yzab'))).toEqual([404, 'api_key_not_found', null]);
    expect(codeOf(await erase<ErrorBody>('nonsense'))).toEqual([404, 'api_key_not_found', null]);
    const { id } = await anotherKey(service.api, { scopes: ['tasks:read', 'operations:read'] });
    const both = await erase<ErrorBody>(id, '?erase=true&keep_tasks=true');
    expect(codeOf(both)).toEqual([400, 'invalid_value', 'keep_tasks']);
    const narrow = await anotherKey(service.api, { scopes: ['keys:manage'] });
    const refused = await erase<ErrorBody>(id, '?erase=true', new Api(service.baseUrl, narrow.key));
    expect(refused.body.error.code).toBe('insufficient_scope');
    const { body } = await service.api.get<ErrorBody>('/v1/erasures/erasure_01jd8e5t9kf3qs7m2v4xw6yzab');
    expect(body.error.code).toBe('erasure_not_found');
    expect((await service.api.get(`/v1/api_keys/${id}`)).status).toBe(200);
  });
});

describe('an erasure that another process has taken over', () => {
  it('is changed no more by the first', async () => {
    const database = await cloneDatabase();
    const pool = new Pool({ connectionString: database.url });
    const rows = new ErasureRows(new Sql({ driver: { master: pool } } as unknown as DataSource));
    await pool.query(`insert into erasures (id, api_key_id) values ('erasure_1', 'key_1')`);
    const first = (await rows.take())!;
    await pool.query(`update erasures set lease_until = now() - interval '1 second'`);
    const second = (await rows.take())!;
    expect([first.attempt, second.attempt]).toEqual([1, 2]);

    const erased = (tasks: number) => async () => ({ counts: { tasks }, step: null, cursor: null });
    await expect(rows.commit(first, erased(1))).rejects.toThrow(ErasureLost);
    await expect(rows.finish(first)).rejects.toThrow(ErasureLost);
    await rows.putOff(first, -1);
    expect(await rows.take()).toBeNull(); // the second holds it still
    await rows.commit(second, erased(2));
    const { rows: stored } = await pool.query('select counts, finished_at from erasures');
    expect(stored).toEqual([{ counts: { tasks: 2 }, finished_at: null }]);
    await pool.end();
    await database.drop();
  });
});
