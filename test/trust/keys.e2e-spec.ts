import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { newApiKey } from '../../src/auth/api-keys/api-key-format.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { startService } from '../../src/service.ts';
import { aFailure, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { startApp, type TestApp, testEnv } from '../support/app.ts';
import { cloneDatabase } from '../support/database.ts';
import { Receiver } from '../support/servers/receiver.ts';

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
  let service: TestApp;
  beforeAll(async () => (service = await startApp()));
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
  }, 30_000);

  it.each(['long poll', 'Prefer: wait'])(
    'has its open %s answered 401 within 5 s',
    async (how) => {
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
    },
    60_000,
  );
});

describe('keys:manage', () => {
  let service: TestApp;
  beforeAll(async () => (service = await startApp()));
  afterAll(() => service.close());

  it('grants no limit and no expiry beyond its own', async () => {
    const expires_at = Math.floor(Date.now() / 1000) + 3600;
    const { api } = await newKey(service.api, { expires_at, limits: { creates_per_minute: 5, max_running: 2 } });
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

  it('rotates and revokes no key that has more scopes than it', async () => {
    const strong = await newKey(service.api, { scopes: ['tasks:read', 'generations:write', 'keys:manage'] });
    const weak = await newKey(service.api, { scopes: ['tasks:read', 'keys:manage'] });
    for (const [method, path] of [
      ['POST', `/v1/api_keys/${strong.id}/rotate`],
      ['DELETE', `/v1/api_keys/${strong.id}`],
    ] as const) {
      const { status } = await weak.api.call(method, path, method === 'POST' ? {} : undefined);
      expect([method, status]).toEqual([method, 403]);
    }
    expect((await strong.api.get('/v1/tasks')).status).toBe(200);
  });

  it('changes name, scopes, limits and expiry by PATCH', async () => {
    const { id } = await newKey(service.api, { scopes: ['tasks:read'], limits: { max_running: 2 } });
    const { status, body } = await service.api.call<KeyBody>('PATCH', `/v1/api_keys/${id}`, {
      name: 'renamed',
      scopes: ['tasks:read', 'tasks:cancel'],
      limits: { max_running: 3, creates_per_minute: 7 },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, name: 'renamed', scopes: ['tasks:read', 'tasks:cancel'] });
    expect(body.limits).toMatchObject({ max_running: 3, creates_per_minute: 7 });
  });

  it('leaves a trace of who did what to whom', async () => {
    const { id } = await newKey(service.api);
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
    const { status, body } = await service.api.get<{ data: { action: string; target_id: string; actor: object }[] }>(
      '/v1/operations/audit_events',
    );
    expect(status).toBe(200);
    const acts = body.data.filter(({ target_id }) => target_id === id).map(({ action }) => action);
    expect(acts.toSorted()).toEqual(['api_key.created', 'api_key.revoked']);
  });
});
