import { jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { newApiKey } from '../../../src/auth/api-keys/api-key-format.ts';
import { AuditLog } from '../../../src/auth/audit/audit-log.ts';
import { SCOPES } from '../../../src/auth/caller.ts';
import { listAuditEvents } from '../../../src/cli/list-audit-events.ts';
import { revokeKey, updateKey } from '../../../src/cli/manage-keys.ts';
import { loadConfig } from '../../../src/platform/config.ts';
import { startService } from '../../../src/service.ts';
import { NONE } from '../../../src/cli/options.ts';
import { aFailure, aHang, Api, type ErrorBody } from '../../support/clients/api.ts';
import { startInProcess, type InProcess } from '../../support/in-process.ts';
import { SECRET_KEY, testEnv } from '../../support/test-env.ts';
import { cloneDatabase } from '../../support/database.ts';
import { EventReader } from '../../support/clients/event-reader.ts';
import { GraphqlClient } from '../../support/clients/graphql-client.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { eventually } from '../../support/wait.ts';

interface KeyBody {
  id: string;
  key: string;
  scopes: string[];
  expires_at: number | null;
  limits: Record<string, unknown>;
  name: string;
}

async function newKey(api: Api, fields: object = {}): Promise<{ id: string; api: Api; body: KeyBody }> {
  const { body } = await api.call<KeyBody>('POST', '/v1/api_keys', { name: 'k', ...fields });
  return { id: body.id, api: new Api(api.baseUrl, body.key), body };
}

describe('a preset key', () => {
  it('that was rotated away never comes back, however old the rotation is', async () => {
    const database = await cloneDatabase();
    const key = newApiKey();
    const { env } = await testEnv(database.url, { BOOTSTRAP_API_KEY: key });
    const start = () => startService(loadConfig(env));
    const rotate = async (api: Api) => {
      const { body } = await api.get<{ data: { id: string }[] }>('/v1/api_keys');
      const rotated = await api.call<KeyBody>('POST', `/v1/api_keys/${body.data[0]?.id}/rotate`, { overlap_hours: 0 });
      return new Api(env.PUBLIC_URL as string, rotated.body.key);
    };
    let service = await start();
    const second = await rotate(new Api(env.PUBLIC_URL as string, key));
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `update api_key_secrets set expires_at = expires_at - interval '31 days' where expires_at is not null`,
    );
    await client.end();
    await rotate(second);
    await service.stop();
    service = await start();
    try {
      expect((await new Api(env.PUBLIC_URL as string, key).get('/v1/api_keys')).status).toBe(401);
    } finally {
      await service.stop();
      await database.drop();
    }
  });
});

describe('a revoked key', () => {
  let service: InProcess;
  beforeAll(async () => (service = await startInProcess()));
  afterAll(() => service.close());

  it('has its queued tasks ended, unless they are to be kept', async () => {
    for (const keep of [false, true]) {
      const { id, api } = await newKey(service.api, { limits: { max_running: 1 } });
      await api.until((await api.create(aHang)).body.task_id, 'running');
      const queued = (await api.create(aHang)).body.task_id;
      const { status } = await service.api.call('DELETE', `/v1/api_keys/${id}${keep ? '?keep_tasks=true' : ''}`);
      expect(status).toBe(204);
      const client = new Client({ connectionString: service.database.url });
      await client.connect();
      const { rows } = await client.query('select status, error from tasks where id = $1', [queued]);
      await client.query(`update tasks set deadline_at = now() where api_key_id = $1`, [id]);
      await client.end();
      expect(rows[0].status).toBe(keep ? 'queued' : 'failed');
      if (!keep) expect(rows[0].error.code).toBe('task_cancelled');
    }
  });

  it('has those tasks ended that another process still accepted from it', async () => {
    const other = await startInProcess({ SECRET_KEY: service.env.SECRET_KEY!, TASK_SWEEP_S: '1' }, service.database);
    const client = new Client({ connectionString: service.database.url });
    await client.connect();
    try {
      const { id, api } = await newKey(service.api, { limits: { max_running: 1 } });
      await api.until((await api.create(aHang)).body.task_id, 'running');
      const late = new Api(other.baseUrl, api.key);
      expect((await late.get('/v1/models')).status).toBe(200);
      await service.api.call('DELETE', `/v1/api_keys/${id}`);
      const made = await late.create(aHang);
      expect(made.status).toBe(201);
      await eventually('the late task to be ended', async () => {
        const { rows } = await client.query('select error from tasks where id = $1', [made.body.task_id]);
        return rows[0].error?.code === 'task_cancelled';
      });
      const { rows } = await client.query('select queued, running from key_load where api_key_id = $1', [id]);
      expect(rows).toEqual([{ queued: 0, running: 1 }]);
      await client.query(`update tasks set deadline_at = now() where api_key_id = $1`, [id]);
    } finally {
      await client.end();
      await other.close();
    }
  });

  it('is sent no more webhooks', async () => {
    const receiver = await Receiver.start();
    const { id, api } = await newKey(service.api);
    await api.call('POST', '/v1/webhook_endpoints', { url: receiver.url });
    await api.create({ ...aFailure, prompt: '#fail:internal_error #delay:2' });
    await sleep(300);
    await service.api.call('DELETE', `/v1/api_keys/${id}?keep_tasks=true`);
    await sleep(5_000);
    expect(receiver.received).toEqual([]);
    await receiver.stop();
  });

  it.each(['long poll', 'Prefer: wait'])('has its open %s answered 401 within 5 s', async (how) => {
    const { id, api } = await newKey(service.api);
    const made = await api.create(aHang);
    const startedAt = performance.now();
    const open =
      how === 'long poll'
        ? api.get<ErrorBody>(`/v1/tasks/${made.body.task_id}?wait=30`)
        : api.create<ErrorBody>(aHang, { prefer: 'wait=30' });
    await sleep(300);
    await service.api.call('DELETE', `/v1/api_keys/${id}?keep_tasks=true`);
    const { status, body } = await open;
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    expect([status, body.error.code]).toEqual([401, 'api_key_revoked']);
    await service.api.cancel(made.body.task_id);
  });
});

describe('a key that loses a scope', () => {
  let service: InProcess;
  beforeAll(async () => (service = await startInProcess()));
  afterAll(() => service.close());

  const keep = (id: string, scopes: string[]) =>
    service.api.call('PATCH', `/v1/api_keys/${id}`, { scopes: scopes as unknown[] });
  const within = (closing: Promise<unknown>) => Promise.race([closing, sleep(6_000).then(() => 'open after 6 s')]);

  it.each([
    ['tasks:read', 'long poll'],
    ['generations:write', 'Prefer: wait'],
  ])('%s has its open %s answered 403 within 5 s', async (scope, how) => {
    const { id, api } = await newKey(service.api);
    const { task_id } = (await api.create(aHang)).body;
    const open =
      how === 'long poll'
        ? api.get<ErrorBody>(`/v1/tasks/${task_id}?wait=30`)
        : api.create<ErrorBody>(aHang, { prefer: 'wait=30' });
    await sleep(300);
    await keep(
      id,
      ['tasks:read', 'tasks:cancel', 'generations:write'].filter((other) => other !== scope),
    );
    expect(await within(open)).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } });
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
  });

  it('has its event streams and sockets closed within 5 s, but no stream that does not need the scope', async () => {
    const { id, api } = await newKey(service.api);
    const stream = await EventReader.open(service.baseUrl, '/v1/events', api.key!);
    const graphql = new GraphqlClient(service.baseUrl, api.key);
    const subscribe = () => graphql.follow('subscription { tasksUpdated { taskId } }', {}, graphql.socket());
    const closed = (following: ReturnType<typeof subscribe>) =>
      within(following.ended.catch(({ code }: { code: number }) => code));
    const first = subscribe();
    await sleep(500);
    await keep(id, ['tasks:read', 'generations:write']);
    expect(await closed(first)).toBe(4403);
    const { task_id } = (await api.create(aFailure)).body;
    await stream.until('the stream to go on', () => stream.of(task_id).length > 0);
    const second = subscribe();
    await sleep(500);
    await keep(id, ['generations:write']);
    expect(await Promise.all([within(stream.ended), closed(second)])).toEqual([undefined, 4403]);
    expect((await api.get<ErrorBody>('/v1/events')).body.error.code).toBe('insufficient_scope');
    await graphql.close();
  });
});

describe('keys:manage', () => {
  let service: InProcess;
  beforeAll(async () => (service = await startInProcess()));
  afterAll(() => service.close());

  it('grants no limit and no expiry beyond its own', async () => {
    const expires_at = Math.floor(Date.now() / 1000) + 3600;
    const { api } = await newKey(service.api, {
      scopes: SCOPES,
      expires_at,
      limits: { creates_per_minute: 5, max_running: 2 },
    });
    const made = await api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'more', expires_at: expires_at + 60 });
    expect([made.status, made.body.error.code]).toEqual([403, 'insufficient_scope']);
    for (const limits of [{ creates_per_minute: 0 }, { creates_per_minute: 6 }, { max_running: 3 }]) {
      const refused = await api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'more', expires_at, limits });
      expect([limits, refused.status]).toEqual([limits, 403]);
    }
    const fine = await api.call<KeyBody>('POST', '/v1/api_keys', {
      name: 'less',
      expires_at,
      limits: { creates_per_minute: 5, max_running: 1 },
    });
    expect(fine.status).toBe(201);
  });

  it('rotates, changes and revokes no key that has more scopes than it', async () => {
    const strong = await newKey(service.api, { scopes: ['tasks:read', 'generations:write', 'keys:manage'] });
    const weak = await newKey(service.api, { scopes: ['tasks:read', 'keys:manage'] });
    for (const [method, path] of [
      ['POST', `/v1/api_keys/${strong.id}/rotate`],
      ['PATCH', `/v1/api_keys/${strong.id}`],
      ['DELETE', `/v1/api_keys/${strong.id}`],
    ] as const) {
      const { status, body } = await weak.api.call<ErrorBody>(method, path, method === 'DELETE' ? undefined : {});
      expect([method, status, body.error.code]).toEqual([method, 403, 'insufficient_scope']);
    }
    expect((await strong.api.get('/v1/tasks')).status).toBe(200);
  });

  it('changes name, scopes, limits and expiry by PATCH', async () => {
    const { id, api } = await newKey(service.api, { scopes: ['tasks:read'], limits: { max_running: 2 } });
    const patch = (changes: object) => service.api.call<KeyBody>('PATCH', `/v1/api_keys/${id}`, changes);
    const { status, body } = await patch({
      name: 'renamed',
      scopes: ['tasks:read', 'tasks:cancel'],
      limits: { max_running: 3, creates_per_minute: 7 },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, name: 'renamed', scopes: ['tasks:read', 'tasks:cancel'], expires_at: null });
    expect(body.limits).toMatchObject({ max_running: 3, creates_per_minute: 7 });

    const expires_at = Math.floor(Date.now() / 1000) + 3600;
    expect((await patch({ expires_at, limits: { max_running: null } })).body).toMatchObject({
      name: 'renamed',
      expires_at,
      limits: { max_running: 50, creates_per_minute: 7 },
    });
    expect((await patch({ expires_at: null, limits: null })).body).toMatchObject({
      expires_at: null,
      limits: { max_running: 50, creates_per_minute: 0 },
    });
    expect((await api.create<ErrorBody>(aHang)).body.error.code).toBe('insufficient_scope');
    await patch({ scopes: ['generations:write'] });
    expect((await api.create(aHang, { prefer: 'wait=0' })).status).toBe(201);
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
    expect((await patch({ name: 'late' })).status).toBe(404);
  });

  it.each([
    [{ name: ' ' }, 'invalid_value', 'name'],
    [{ name: null }, 'invalid_type', 'name'],
    [{ scopes: [] }, 'invalid_value', 'scopes'],
    [{ expires_at: 1_700_000_000 }, 'value_out_of_range', 'expires_at'],
    [{ limits: { max_running: -1 } }, 'value_out_of_range', 'limits.max_running'],
    [{ limits: { max_fun: 1 } }, 'unknown_parameter', 'limits.max_fun'],
    [{ hint: 'x' }, 'unknown_parameter', 'hint'],
  ])('refuses the change %j', async (changes, code, param) => {
    const { id, body: before } = await newKey(service.api);
    const { status, body } = await service.api.call<ErrorBody>('PATCH', `/v1/api_keys/${id}`, changes);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
    const { key: _, ...shown } = before;
    expect((await service.api.get(`/v1/api_keys/${id}`)).body).toEqual(shown);
  });

  it('changes no key, its own included, beyond its own limits and expiry', async () => {
    const expires_at = Math.floor(Date.now() / 1000) + 3600;
    const { id, api } = await newKey(service.api, { scopes: SCOPES, expires_at, limits: { creates_per_minute: 5 } });
    const other = await newKey(service.api, { limits: { creates_per_minute: 9 } });
    for (const target of [id, other.id]) {
      for (const [changes, param] of [
        [{ limits: { creates_per_minute: 6 } }, 'limits.creates_per_minute'],
        [{ limits: { creates_per_minute: null } }, 'limits.creates_per_minute'],
        [{ limits: null }, 'limits.creates_per_minute'],
        [{ expires_at: null }, 'expires_at'],
        [{ expires_at: expires_at + 1 }, 'expires_at'],
      ] as const) {
        const { status, body } = await api.call<ErrorBody>('PATCH', `/v1/api_keys/${target}`, changes);
        expect([changes, status, body.error.param]).toEqual([changes, 403, param]);
      }
    }
    expect((await api.call('PATCH', `/v1/api_keys/${other.id}`, { name: 'mine' })).status).toBe(200);
    expect((await api.call('PATCH', `/v1/api_keys/${id}`, { limits: { creates_per_minute: 4 } })).status).toBe(200);
  });

  it('makes a higher limit count for tasks that are queued already', async () => {
    const { id, api } = await newKey(service.api, { limits: { max_running: 1 } });
    const [first, second] = [(await api.create(aHang)).body.task_id, (await api.create(aHang)).body.task_id];
    await api.until(first, 'running');
    await service.api.call('PATCH', `/v1/api_keys/${id}`, { limits: { max_running: 2 } });
    await api.until(second, 'running');
    await Promise.all([api.cancel(first), api.cancel(second)]);
  });

  it('creates nothing with a key that was revoked, though another process still accepts it for 5 s', async () => {
    const { id, api } = await newKey(service.api, { scopes: SCOPES });
    expect((await api.get('/v1/api_keys')).status).toBe(200);
    const client = new Client({ connectionString: service.database.url });
    await client.connect();
    await client.query('update api_keys set revoked_at = now() where id = $1', [id]); // as another process would
    await client.end();
    expect((await api.get('/v1/api_keys')).status).toBe(200);
    const { status, body } = await api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'heir' });
    expect([status, body.error.code]).toEqual([401, 'api_key_revoked']);
  });
});

describe('the audit trail of API keys', () => {
  interface AuditBody {
    id: string;
    action: string;
    actor_type: string;
    actor_id: string | null;
    target_id: string;
    ip: string | null;
    request_id: string | null;
    before: Record<string, unknown> | null;
    after: Record<string, unknown> | null;
  }
  type AuditPage = { data: AuditBody[]; has_more: boolean; first_id: string; last_id: string };

  let service: InProcess;
  beforeAll(async () => (service = await startInProcess()));
  afterAll(() => service.close());
  const events = (query: string, api = service.api) => api.get<AuditPage>(`/v1/operations/audit_events${query}`);

  it('leaves a trace of who did what to whom', async () => {
    const admin = await newKey(service.api, { scopes: SCOPES, name: 'admin' });
    const { id, body: made } = await newKey(admin.api, { name: 'victim' });
    await admin.api.call('PATCH', `/v1/api_keys/${id}`, { name: 'renamed', limits: { max_running: 3 } });
    const rotated = await admin.api.call<KeyBody>('POST', `/v1/api_keys/${id}/rotate`, { overlap_hours: 2 });
    await admin.api.call('DELETE', `/v1/api_keys/${id}`, undefined, { 'x-request-id': 'the-end' });

    const { status, body, text } = await events(`?target_id=${id}`);
    expect(status).toBe(200);
    expect(body.data.map(({ action }) => action)).toEqual([
      'api_key.revoked',
      'api_key.rotated',
      'api_key.updated',
      'api_key.created',
    ]);
    const shared = { actor_type: 'api_key', actor_id: admin.id, target_type: 'api_key', target_id: id };
    for (const event of body.data) expect(event).toMatchObject({ ...shared, ip: '127.0.0.1' });
    expect(body.data[0]).toMatchObject({ request_id: 'the-end', after: { keep_tasks: false } });
    expect(body.data[1]).toMatchObject({ after: { overlap_hours: 2 } });
    expect(body.data[2]).toMatchObject({
      before: { name: 'victim', limits: {} },
      after: { name: 'renamed', limits: { max_running: 3 } },
    });
    expect(body.data[3]).toMatchObject({ before: null, after: { name: 'victim', expires_at: null } });
    for (const key of [made.key, rotated.body.key]) expect(text).not.toContain(key.slice(5, 45));
  });

  it('records the preset key as an act of the service', async () => {
    const { body } = await events('?limit=100');
    expect(body.data.at(-1)).toMatchObject({
      action: 'api_key.created',
      actor_type: 'service',
      actor_id: null,
      ip: null,
    });
  });

  it('is paged and filtered over REST, and the same over GraphQL', async () => {
    const { id } = await newKey(service.api);
    await newKey(service.api);
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
    const revoked = (await events('?action=api_key.revoked')).body.data;
    expect(revoked[0]).toMatchObject({ target_id: id });
    expect(new Set(revoked.map(({ action }) => action))).toEqual(new Set(['api_key.revoked']));
    const first = (await events('?limit=2')).body;
    expect([first.data.length, first.has_more, first.last_id]).toEqual([2, true, first.data[1]!.id]);
    const second = (await events(`?limit=1&after=${first.last_id}`)).body;

    const query = `query ($after: String) { auditEvents(first: 1, after: $after) {
      edges { cursor node { id action actorId targetId before after } } pageInfo { hasNextPage } } }`;
    const graphql = (api: Api) =>
      api.call<{ data: { auditEvents: { edges: { cursor: string; node: object }[] } }; errors?: object[] }>(
        'POST',
        '/graphql',
        { query, variables: { after: first.last_id } },
      );
    const [edge] = (await graphql(service.api)).body.data.auditEvents.edges;
    const { id: eventId, action, actor_id, target_id, before, after } = second.data[0]!;
    expect(edge!.cursor).toBe(eventId);
    expect(edge!.node).toEqual({
      id: eventId,
      action: action.toUpperCase().replace('.', '_'),
      actorId: actor_id,
      targetId: target_id,
      before,
      after,
    });

    const { api } = await newKey(service.api);
    expect((await events('', api)).status).toBe(403);
    expect((await graphql(api)).text).toContain('insufficient_scope');
    for (const wrong of ['?limit=0', '?after=x', '?action=root', '?x=1']) {
      expect([wrong, (await events(wrong)).status]).toEqual([wrong, 400]);
    }
  });

  it('commits with its act or not at all', async () => {
    const before = (await events('')).body.first_id;
    const past = await service.api.call('POST', '/v1/api_keys', { name: 'x', expires_at: 1_700_000_000 });
    expect(past.status).toBe(400);
    expect((await events('')).body.first_id).toBe(before);
  });

  it('is kept for 400 days', async () => {
    const { id: old } = await newKey(service.api);
    const { id: young } = await newKey(service.api);
    const client = new Client({ connectionString: service.database.url });
    await client.connect();
    const age = 'update audit_events set created_at = now() - make_interval(days => $2) where target_id = $1';
    await client.query(age, [old, 401]);
    await client.query(age, [young, 399]);
    await client.end();
    expect(await service.app.get(AuditLog).purge()).toBe(1);
    expect((await events(`?target_id=${old}`)).body.data).toEqual([]);
    expect((await events(`?target_id=${young}`)).body.data).toHaveLength(1);
  });

  it('includes what the command line did, and is printed there', async () => {
    const env = { ...process.env };
    const printed = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    Object.assign(process.env, { DATABASE_URL: service.database.url, SECRET_KEY });
    try {
      const { id, api } = await newKey(service.api, { limits: { max_running: 1 } });
      await updateKey(id, { name: 'from the shell', maxRunning: NONE, expires: NONE, json: true });
      expect(JSON.parse(printed.mock.calls.at(-1)![0] as string)).toMatchObject({ limits: { max_running: 50 } });
      const queued = (await api.create({ ...aHang, prompt: '#hang' })).body.task_id;
      await api.until(queued, 'running');
      await revokeKey(id, { keepTasks: true });
      const { body } = await events(`?target_id=${id}`);
      expect(body.data.map(({ action, actor_type }) => [action, actor_type])).toEqual([
        ['api_key.revoked', 'command_line'],
        ['api_key.updated', 'command_line'],
        ['api_key.created', 'api_key'],
      ]);
      await listAuditEvents({ target: id, limit: 20 });
      expect(printed.mock.calls.at(-1)![0]).toMatch(new RegExp(`api_key\\.revoked +${id} +command_line`));
    } finally {
      jest.restoreAllMocks();
      process.env = env;
    }
  });
});
