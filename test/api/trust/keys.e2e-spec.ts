import { Client } from 'pg';
import { SCOPES } from '../../../src/auth/access/caller.ts';
import { aFailure, aHang, Api, type ErrorBody } from '../../support/clients/api.ts';
import { EventReader } from '../../support/clients/event-reader.ts';
import { GraphqlClient } from '../../support/clients/graphql-client.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { joinService, type SharedService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

interface KeyBody {
  id: string;
  key: string;
  scopes: string[];
  expires_at: number | null;
  limits: Record<string, unknown>;
  name: string;
}

let service: SharedService;
beforeAll(async () => (service = await joinService()));
afterAll(() => service.close());

const query = <Row>(text: string, values: unknown[]) => queryOnce<Row>(service.database.url, text, values);
/** Ends the tasks of a key that is revoked. */
const endTasks = (apiKeyId: string) =>
  query('update tasks_live set deadline_at = now() where api_key_id = $1', [apiKeyId]);
/** What was sent before this has been read. */
const settle = async (api: Api) => {
  for (let nth = 0; nth < 3; nth += 1) expect((await api.get('/v1/models')).status).toBe(200);
};

async function newKey(api: Api, fields: object = {}): Promise<{ id: string; api: Api; body: KeyBody }> {
  const { body } = await api.call<KeyBody>('POST', '/v1/api_keys', { name: 'k', ...fields });
  return { id: body.id, api: new Api(api.baseUrl, body.key), body };
}

describe('a revoked key', () => {
  it('has its queued tasks ended, unless they are to be kept', async () => {
    for (const keep of [false, true]) {
      const { id, api } = await newKey(service.api, { limits: { max_running: 1 } });
      await api.until((await api.create(aHang)).body.task_id, 'running');
      const queued = (await api.create(aHang)).body.task_id;
      const { status } = await service.api.call('DELETE', `/v1/api_keys/${id}${keep ? '?keep_tasks=true' : ''}`);
      expect(status).toBe(204);
      const [task] = await query<{ status: string; error: { code: string } | null }>('select status, error from tasks where id = $1', [queued]); // prettier-ignore
      await endTasks(id);
      expect(task!.status).toBe(keep ? 'queued' : 'failed');
      if (!keep) expect(task!.error!.code).toBe('task_cancelled');
    }
  });

  it('has those tasks ended that another process still accepted from it', async () => {
    const { id, api } = await newKey(service.api, { limits: { max_running: 1 } });
    await api.until((await api.create(aHang)).body.task_id, 'running');
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
    // As in another process, which has not seen it yet.
    await query('update api_keys set revoked_at = null where id = $1', [id]);
    const made = await api.create(aHang);
    await query('update api_keys set revoked_at = now() where id = $1', [id]);
    expect(made.status).toBe(201);
    await eventually('the late task to be ended', async () => {
      const [task] = await query<{ error: { code: string } | null }>('select error from tasks where id = $1', [made.body.task_id]); // prettier-ignore
      return task!.error?.code === 'task_cancelled';
    });
    expect(await query('select queued, running from key_load where api_key_id = $1', [id])).toEqual([
      { queued: 0, running: 1 },
    ]);
    await endTasks(id);
  });

  it('is sent no more webhooks', async () => {
    const receiver = await Receiver.start();
    const [gone, other] = [await newKey(service.api), await newKey(service.api)];
    for (const [name, { api }] of Object.entries({ gone, other })) {
      const { status } = await api.call('POST', '/v1/webhook_endpoints', { url: `${receiver.url}/${name}` });
      expect(status).toBe(201);
    }
    const { task_id } = (await gone.api.create(aHang)).body;
    await gone.api.until(task_id, 'running');
    await service.api.call('DELETE', `/v1/api_keys/${gone.id}?keep_tasks=true`);
    await endTasks(gone.id);
    await eventually('the task to end', async () => (await query(`select 1 from tasks where id = $1 and status = 'failed'`, [task_id])).length === 1); // prettier-ignore
    // What ends later is sent later.
    for (const nth of [1, 2]) {
      await other.api.create(aFailure);
      await eventually('the webhook of another key', async () => receiver.received.length >= nth);
    }
    expect(receiver.received.map(({ event }) => event.data.task_id)).not.toContain(task_id);
    await receiver.stop();
  });

  it.each(['long poll', 'Prefer: wait'])('has its open %s answered 401', async (how) => {
    const { id, api } = await newKey(service.api);
    const made = await api.create(aHang);
    const open =
      how === 'long poll'
        ? api.get<ErrorBody>(`/v1/tasks/${made.body.task_id}?wait=30`)
        : api.create<ErrorBody>(aHang, { prefer: 'wait=30' });
    await settle(api);
    await service.api.call('DELETE', `/v1/api_keys/${id}?keep_tasks=true`);
    const { status, body } = await open;
    expect([status, body.error.code]).toEqual([401, 'api_key_revoked']);
    await endTasks(id);
  });
});

describe('a key that loses a scope', () => {
  const keep = (id: string, scopes: string[]) =>
    service.api.call('PATCH', `/v1/api_keys/${id}`, { scopes: scopes as unknown[] });

  it.each([
    ['tasks:read', 'long poll'],
    ['generations:write', 'Prefer: wait'],
  ])('%s has its open %s answered 403', async (scope, how) => {
    const { id, api } = await newKey(service.api);
    const { task_id } = (await api.create(aHang)).body;
    const open =
      how === 'long poll'
        ? api.get<ErrorBody>(`/v1/tasks/${task_id}?wait=30`)
        : api.create<ErrorBody>(aHang, { prefer: 'wait=30' });
    await settle(api);
    await keep(
      id,
      ['tasks:read', 'tasks:cancel', 'generations:write'].filter((other) => other !== scope),
    );
    expect(await open).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } });
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
  });

  it('has its event streams and sockets closed, but no stream that does not need the scope', async () => {
    const { id, api } = await newKey(service.api);
    const stream = await EventReader.open(service.baseUrl, '/v1/events', api.key!);
    const graphql = new GraphqlClient(service.baseUrl, api.key);
    /** A socket that has received something. */
    const subscribe = async () => {
      const following = graphql.follow('subscription { tasksUpdated { taskId } }', {}, graphql.socket());
      await eventually('the first event', async () => {
        await api.create(aFailure);
        return following.events.length > 0;
      });
      return { closed: following.ended.catch(({ code }: { code: number }) => code) };
    };
    const first = await subscribe();
    await keep(id, ['tasks:read', 'generations:write']);
    expect(await first.closed).toBe(4403);
    const { task_id } = (await api.create(aFailure)).body;
    await stream.until('the stream to go on', () => stream.of(task_id).length > 0);
    const second = await subscribe();
    await keep(id, ['generations:write']);
    expect(await Promise.all([stream.ended, second.closed])).toEqual([undefined, 4403]);
    expect((await api.get<ErrorBody>('/v1/events')).body.error.code).toBe('insufficient_scope');
    await graphql.close();
  });
});

describe('keys:manage', () => {
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

  it('creates nothing with a key that is revoked by another process meanwhile', async () => {
    const { id, api } = await newKey(service.api, { scopes: SCOPES });
    expect((await api.get('/v1/api_keys')).status).toBe(200);
    const other = new Client({ connectionString: service.database.url });
    await other.connect();
    await other.query('begin');
    await other.query('update api_keys set revoked_at = now() where id = $1', [id]);
    const heir = api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'heir' });
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually('the creation to wait', async () => (await query(waiting, [])).length > 0);
    await other.query('commit');
    await other.end();
    const { status, body } = await heir;
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
});

describe('the keys that a key has made', () => {
  const scopes = ['keys:manage', 'generations:write', 'tasks:read'];
  const works = async ({ api }: { api: Api }) => (await api.get('/v1/models')).status === 200;

  it('name it, and are listed by it', async () => {
    const maker = await newKey(service.api, { scopes });
    const made = await newKey(maker.api, { scopes: ['tasks:read'] });
    const { body: listed } = await service.api.get<{ data: { id: string; created_by: string }[] }>(
      `/v1/api_keys?created_by=${maker.id}`,
    );
    expect(listed.data.map(({ id, created_by }) => [id, created_by])).toEqual([[made.id, maker.id]]);
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const { data } = await graphql.ask<{ apiKeys: { edges: { node: object }[] } }>(
      'query ($by: String) { apiKeys(createdBy: $by) { edges { node { id createdBy } } } }',
      { by: maker.id },
    );
    expect(data.apiKeys.edges).toEqual([{ node: { id: made.id, createdBy: maker.id } }]);
    const { status, body } = await service.api.get<ErrorBody>('/v1/api_keys?created_by=nobody');
    expect([status, body.error.param]).toEqual([400, 'created_by']);
  });

  it('live on without it, or are revoked with it, with those that they have made', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const revoke = {
      alone: async (id: string) => (await service.api.call('DELETE', `/v1/api_keys/${id}`)).status,
      rest: async (id: string) => (await service.api.call('DELETE', `/v1/api_keys/${id}?children=true`)).status,
      graphql: async (id: string) =>
        (await graphql.ask('mutation ($id: String!) { revokeApiKey(id: $id, children: true) { id } }', { id })).data,
    };
    for (const [how, act] of Object.entries(revoke)) {
      const maker = await newKey(service.api, { scopes });
      const child = await newKey(maker.api, { scopes });
      const grandchild = await newKey(child.api, { scopes: ['tasks:read'] });
      expect(await act(maker.id)).toEqual(how === 'graphql' ? { revokeApiKey: { id: maker.id } } : 204);
      const live = how === 'alone';
      expect([await works(maker), await works(child), await works(grandchild)]).toEqual([false, live, live]);
    }
  });

  it('are at most eight below each other, and 10,000 of one key', async () => {
    const last = { scopes: ['keys:manage'] };
    const maker = await newKey(service.api, { scopes });
    await query('update api_keys set created_by = null where id = $1', [maker.id]);
    let lowest = maker;
    for (let above = 1; above <= 8; above += 1) lowest = await newKey(lowest.api, last);
    const refused = await lowest.api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'too low', ...last });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'too_many_items']);
    await query(
      `insert into api_keys (id, name, hint, scopes, created_at, created_by)
       select 'key_' || substr(md5($1 || n), 1, 26), 'one of many', '', '{}', now(), $1 from generate_series(1, 10000) n`,
      [maker.id],
    );
    const many = await maker.api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'one more', ...last });
    expect([many.status, many.body.error.code]).toEqual([400, 'too_many_items']);
    await query(`update api_keys set revoked_at = now() where created_by = $1 and name = 'one of many'`, [maker.id]);
    expect((await maker.api.call('POST', '/v1/api_keys', { name: 'one more', ...last })).status).toBe(201);
    await query(`delete from api_keys where created_by = $1 and name = 'one of many'`, [maker.id]);
  });

  it('are 10,000 below one with a limit of bytes, with those revoked in the last 30 days', async () => {
    const limits = { max_file_bytes: 1_000_000 };
    const maker = await newKey(service.api, { scopes, limits });
    const child = await newKey(maker.api, { scopes, limits });
    const attempt = async ({ api }: typeof maker) => {
      const { status, body } = await api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'one more', scopes, limits });
      return status === 201 ? status : body.error.code;
    };
    await query(
      `insert into api_keys (id, name, hint, scopes, created_at, created_by)
       select 'key_' || substr(md5($1 || n), 1, 26), 'one of many', '', '{}', now(), $1 from generate_series(1, 9999) n`,
      [child.id],
    );
    const revoke = (ago: string) =>
      query(`update api_keys set revoked_at = now() - $2::interval where created_by = $1`, [child.id, ago]);
    expect([await attempt(maker), await attempt(child)]).toEqual(['too_many_items', 'too_many_items']);
    await revoke('29 days');
    expect(await attempt(maker)).toBe('too_many_items');
    await revoke('31 days');
    expect([await attempt(maker), await attempt(child)]).toEqual([201, 201]);
    await query(`delete from api_keys where created_by = $1 and name = 'one of many'`, [child.id]);
  });

  it('are revoked by a key that has all of their scopes only', async () => {
    const maker = await newKey(service.api, { scopes });
    const child = await newKey(maker.api, { scopes: ['tasks:read'] });
    await service.api.call('PATCH', `/v1/api_keys/${child.id}`, { scopes: ['operations:read'] });
    const { api } = await newKey(service.api, { scopes });
    const { status, body } = await api.call<ErrorBody>('DELETE', `/v1/api_keys/${maker.id}?children=true`);
    expect([status, body.error.code]).toEqual([403, 'insufficient_scope']);
    expect(await works(maker)).toBe(true);
  });

  it('end with a bounded one', async () => {
    const limits = { max_running: 1 };
    const maker = await newKey(service.api, { scopes, limits });
    const child = await newKey(maker.api, { scopes, limits });
    const grandchild = await newKey(child.api, { scopes: ['tasks:read'], limits });
    await service.api.call('DELETE', `/v1/api_keys/${maker.id}`);
    expect([await works(maker), await works(child), await works(grandchild)]).toEqual([false, false, false]);
    const { body } = await service.api.get<{ data: { action: string; after: object }[] }>(
      `/v1/operations/audit_events?target_id=${grandchild.id}`,
    );
    expect(body.data[0]).toMatchObject({ action: 'api_key.revoked', after: { with_key: child.id } });
  });

  it('are revoked beside it, while both have tasks that wait', async () => {
    const limits = { max_running: 1, max_queued: 50 };
    const maker = await newKey(service.api, { scopes, limits });
    const child = await newKey(maker.api, { scopes, limits });
    for (const { api } of [maker, child]) for (let nth = 0; nth < 3; nth += 1) await api.create(aHang);
    const blocker = new Client({ connectionString: service.database.url });
    await blocker.connect();
    const revoke = (id: string) => service.api.call('DELETE', `/v1/api_keys/${id}?children=true`);
    const waiting = (n: number) =>
      eventually(`${n} to wait`, async () => {
        const locked = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return (await query(locked, [])).length >= n;
      });
    await blocker.query('begin');
    await blocker.query('select from tasks_live where api_key_id = $1 and attempt = 0 for update', [child.id]);
    const ofChild = revoke(child.id);
    await waiting(1);
    const ofMaker = revoke(maker.id);
    await waiting(2);
    await blocker.query('commit');
    await blocker.end();
    expect([(await ofChild).status, (await ofMaker).status]).toEqual([204, 204]);
    const left = await query<{ queued: number; below_queued: number }>(
      'select queued, below_queued from key_load where api_key_id = any($1)',
      [[maker.id, child.id]],
    );
    expect(left).toEqual([
      { queued: 0, below_queued: 0 },
      { queued: 0, below_queued: 0 },
    ]);
    for (const { id } of [maker, child]) await endTasks(id);
  });

  it('are no obstacle, however many of them were revoked', async () => {
    const maker = await newKey(service.api, { scopes, limits: { max_running: 1 } });
    await query(
      `insert into api_keys (id, name, hint, scopes, created_at, created_by, revoked_at)
       select 'key_' || substr(md5($1 || n), 1, 26), 'one of many', '', '{}', now(), $1, now() from generate_series(1, 70000) n`,
      [maker.id],
    );
    expect((await service.api.call('DELETE', `/v1/api_keys/${maker.id}`)).status).toBe(204);
    expect(await works(maker)).toBe(false);
    await query('delete from api_keys where created_by = $1', [maker.id]);
  });

  it('end when a bounded one expires earlier than they do', async () => {
    const expires_at = Math.floor(Date.now() / 1000) + 3600;
    const maker = await newKey(service.api, { scopes, expires_at });
    const child = await newKey(maker.api, { scopes: ['tasks:read'], expires_at });
    await query(`update api_keys set expires_at = now() - interval '1 second' where id = $1`, [maker.id]);
    await eventually('the child to end', async () => !(await works(child)));
  });

  it('count for its rates too', async () => {
    const limits = { creates_per_minute: 3 };
    const maker = await newKey(service.api, { scopes, limits });
    const made = await Promise.all([1, 2, 3].map(() => newKey(maker.api, { scopes, limits })));
    await query(
      `insert into rate_windows (api_key_id, bucket, ends_at, taken)
       select id, 'create', now() + interval '1 hour', 0 from unnest($1::text[]) id`,
      [[maker.id, ...made.map(({ id }) => id)]],
    );
    const codes: (string | number)[] = [];
    for (const { api } of [...made, maker, ...made]) {
      const { status, body } = await api.create<ErrorBody>(aFailure);
      codes.push(status === 201 ? status : body.error.code);
    }
    expect(codes).toEqual([201, 201, 201, ...Array(4).fill('rate_limit_exceeded')]);
  });
});
