// In-process: the tests look at the caller of a request and count statements, and start a dozen processes.
import { jest } from '@jest/globals';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { newApiKey } from '../../src/auth/credentials/api-key-format.ts';
import { AuditLog } from '../../src/auth/audit/audit-log.ts';
import { Authenticator } from '../../src/auth/credentials/authenticator.ts';
import { type Caller, SCOPES } from '../../src/auth/access/caller.ts';
import { LastUse } from '../../src/auth/credentials/last-use.ts';
import { keysCommand } from '../../src/cli/commands/keys.ts';
import { listAuditEvents } from '../../src/cli/installation/list-audit-events.ts';
import { createKey, listKeys, revokeKey, rotateKey, updateKey } from '../../src/cli/installation/manage-keys.ts';
import { NONE } from '../../src/cli/terminal/options.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { Sql } from '../../src/platform/database/sql.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { SECRET_KEY } from '../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { CutLine } from '../support/faults/cut-line.ts';
import { eventually } from '../support/wait.ts';

interface ApiKeyBody {
  id: string;
  key: string;
  hint: string;
  scopes: string[];
  created_at: number;
  last_used_at: number | null;
}

let database: TestDatabase;
let service: InProcess;
let admin: string;

beforeAll(async () => {
  database = await cloneDatabase();
  service = await start({ BOOTSTRAP_API_KEY: '' });
  admin = service.firstKey!;
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

/** One process of the service on the given database, with the default limits. Its tasks stay queued: no worker runs. */
function start(settings: Record<string, string> = {}, on = database): Promise<InProcess> {
  return startInProcess({ ROLE: 'api', RATE_CREATE_PER_MIN: '', RATE_READ_PER_MIN: '', ...settings }, on);
}

async function call(
  method: string,
  path: string,
  {
    key = admin,
    body,
    headers = {},
    on = service.baseUrl,
  }: { key?: string | null; body?: unknown; headers?: Record<string, string>; on?: string } = {},
) {
  const response = await fetch(on + path, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

async function create(input: object = {}): Promise<ApiKeyBody> {
  const { status, body } = await call('POST', '/v1/api_keys', { body: { name: 'test', ...input } });
  expect(status).toBe(201);
  return body as ApiKeyBody;
}

async function codeOf(key: string | null, on?: string): Promise<string | number> {
  const { status, body } = await call('GET', '/v1/models', { key, ...(on && { on }) });
  return status === 200 ? 200 : body.error.code;
}

const callerOf = (key: string) => service.app.get(Authenticator).authenticate(key);

describe('authenticating', () => {
  it('accepts a good key and resolves its scopes and limits', async () => {
    const { key, id } = await create({ scopes: ['tasks:read'], limits: { max_running: 3, reads_per_minute: 0 } });
    expect(await codeOf(key)).toBe(200);
    expect(await callerOf(key)).toEqual({
      apiKeyId: id,
      scopes: ['tasks:read'],
      limits: {
        createsPerMinute: 600,
        readsPerMinute: 0,
        maxRunning: 3,
        maxQueued: 5000,
        maxFileBytes: 5368709120,
        maxRequestFileBytes: 53687091200,
        maxKeptBytes: 5368709120,
        weight: 10,
        taskRetentionDays: 30,
        fileRetentionDays: 7,
      },
      hasBudget: false,
    });
  });

  it('takes the scheme in any case, and needs no key on a public route', async () => {
    const any = await call('GET', '/v1/models', { key: null, headers: { authorization: `bEARER  ${admin}` } });
    expect(any.status).toBe(200);
    for (const key of [null, 'nonsense'])
      expect((await call('GET', '/v1/files/unknown/content?signature=x', { key })).body.error.code).toBe(
        'invalid_signature',
      );
  });

  it.each([
    ['no header', undefined, 'missing_api_key'],
    ['an empty header', '', 'missing_api_key'],
    ['another scheme', 'Basic dXNlcjpwYXNz', 'missing_api_key'],
    ['the scheme alone', 'Bearer', 'missing_api_key'],
    ['nonsense', 'Bearer nonsense', 'invalid_api_key'],
    ['two tokens', `Bearer ${newApiKey()} ${newApiKey()}`, 'invalid_api_key'],
    ['an unknown key', `Bearer ${newApiKey()}`, 'invalid_api_key'],
  ])('answers %s with 401 and WWW-Authenticate', async (_, authorization, code) => {
    const headers = authorization === undefined ? undefined : { authorization };
    const { status, headers: reply, body } = await call('GET', '/v1/models', { key: null, headers });
    expect([status, body.error.code, body.error.type]).toEqual([401, code, 'authentication_error']);
    expect(reply.get('www-authenticate')).toBe('Bearer');
  });

  it('looks up an unknown key once, and never a key with a wrong checksum', async () => {
    const key = newApiKey();
    const wrong = ['0', '1', 'z'].filter((digit) => !key.endsWith(digit)).map((digit) => key.slice(0, -1) + digit);
    expect(await countingStatements(() => Promise.all(wrong.map((each) => codeOf(each))))).toBe(0);
    expect(await codeOf(wrong[0]!)).toBe('invalid_api_key');
    const unknown = newApiKey();
    expect(await countingStatements(() => Promise.all(Array.from({ length: 5 }, () => codeOf(unknown))))).toBe(1);
    expect(await countingStatements(() => codeOf(unknown))).toBe(0);
  });

  it('merges the look-ups of one event loop turn into one statement, and returns each caller its own key', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => create()));
    const authenticator = service.app.get(Authenticator);
    let callers: Caller[] = [];
    const statements = await countingStatements(async () => {
      callers = await Promise.all(keys.map(({ key }) => authenticator.authenticate(key)));
    });
    expect(statements).toBe(1);
    expect(callers.map((caller) => caller.apiKeyId)).toEqual(keys.map(({ id }) => id));
  });

  it('refuses a key that has expired', async () => {
    const { key, id } = await create({ expires_at: Math.floor(Date.now() / 1000) + 3600 });
    expect(await codeOf(key)).toBe(200);
    await queryOnce(database.url, 'update api_keys set expires_at = now() where id = $1', [id]);
    service.app.get(Authenticator).forget([id]);
    expect(await codeOf(key)).toBe('api_key_expired');
  });

  it('answers 503 instead of 401 while the database is away', async () => {
    const { hostname, port } = new URL(database.url);
    const line = await CutLine.to(hostname, Number(port));
    const url = new URL(database.url);
    url.port = String(line.port);
    const away = await start({}, { ...database, url: url.href });
    try {
      expect(await codeOf(admin, away.baseUrl)).toBe(200);
      line.cut();
      const { status, headers, body } = await call('GET', '/v1/models', { key: newApiKey(), on: away.baseUrl });
      expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      line.mend();
      await away.close();
      await line.close();
    }
  });

  it('records when a key was last used', async () => {
    const { key, id, last_used_at } = await create();
    expect(last_used_at).toBeNull();
    await codeOf(key);
    await service.app.get(LastUse).flush();
    // The timer may have begun to write it before.
    const usedAt = await eventually('the write', async () => {
      const { body } = await call('GET', `/v1/api_keys/${id}`);
      return body.last_used_at as number | null;
    });
    expect(Math.abs(usedAt - Date.now() / 1000)).toBeLessThan(60);
  });
});

describe('scopes', () => {
  it('refuses a key without the scope and names the scope', async () => {
    const { key } = await create({ scopes: ['generations:write'] });
    const { status, body } = await call('GET', '/v1/tasks', { key });
    expect([status, body.error.code]).toEqual([403, 'insufficient_scope']);
    expect(body.error.message).toContain('tasks:read');
    expect((await call('GET', '/v1/api_keys', { key })).body.error.message).toContain('keys:manage');
  });

  it('never lets a key grant a scope that it lacks, by creating or by rotating', async () => {
    const manager = await create({ scopes: ['keys:manage'] });
    const made = await call('POST', '/v1/api_keys', { key: manager.key, body: { name: 'x', scopes: ['tasks:read'] } });
    expect([made.status, made.body.error.code]).toEqual([403, 'insufficient_scope']);
    const stronger = await create({ scopes: ['tasks:read'] });
    const rotated = await call('POST', `/v1/api_keys/${stronger.id}/rotate`, { key: manager.key });
    expect([rotated.status, rotated.body.error.code]).toEqual([403, 'insufficient_scope']);
    expect(await codeOf(stronger.key)).toBe(200);
    const own = await call('POST', '/v1/api_keys', { key: manager.key, body: { name: 'x', scopes: ['keys:manage'] } });
    expect(own.status).toBe(201);
  });
});

describe('managing', () => {
  it('shows a new key only once, and its other fields always', async () => {
    const expires_at = Math.floor(Date.now() / 1000) + 3600;
    const { key, ...shown } = await create({ name: 'Ünï 🎞', expires_at, limits: { max_queued: 7 } });
    expect(key).toMatch(/^dr_[0-9A-Za-z]{46}$/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      object: 'api_key',
      name: 'Ünï 🎞',
      models: null,
      scopes: ['generations:write', 'tasks:read', 'tasks:cancel', 'webhooks:manage'],
      limits: {
        creates_per_minute: 600,
        reads_per_minute: 6000,
        max_running: 50,
        max_queued: 7,
        max_file_bytes: 5368709120,
        max_request_file_bytes: 53687091200,
        max_kept_bytes: 5368709120,
        weight: 10,
        task_retention_days: 30,
        file_retention_days: 7,
        budget: null,
      },
      budget_status: null,
      hint: `dr_${key.slice(3, 5)}…${key.slice(-4)}`,
      created_at: expect.any(Number),
      created_by: expect.stringMatching(/^key_/),
      expires_at,
      last_used_at: null,
    });
    expect(Math.abs(shown.created_at - Date.now() / 1000)).toBeLessThan(60);
    expect((await call('GET', `/v1/api_keys/${shown.id}`)).body).toEqual(shown);
  });

  it('stores neither the key nor anything from which it could be derived', async () => {
    const { key } = await create();
    const rows = await service.app
      .get(DataSource)
      .query(
        `select k::text as row from api_keys k union all select s::text || encode(s.hash, 'escape') from api_key_secrets s`,
      );
    expect(JSON.stringify(rows)).not.toContain(key.slice(5, 45));
  });

  it('changes one key while a change of another one by the same key waits', async () => {
    const [one, other] = [await create(), await create()];
    const [holder, observer] = [1, 2].map(() => new Client({ connectionString: database.url })) as [Client, Client];
    await Promise.all([holder.connect(), observer.connect()]);
    try {
      await holder.query('begin');
      await holder.query('select id from api_keys where id = $1 for update', [one.id]);
      const waiting = call('PATCH', `/v1/api_keys/${one.id}`, { body: { name: 'later' } });
      await eventually('the change to wait', async () => {
        const { rowCount } = await observer.query('select 1 from pg_locks where not granted');
        return rowCount! > 0;
      });
      expect((await call('PATCH', `/v1/api_keys/${other.id}`, { body: { name: 'at once' } })).status).toBe(200);
      await holder.query('commit');
      expect((await waiting).status).toBe(200);
    } finally {
      await Promise.all([holder.end(), observer.end()]);
    }
  });

  it('lists keys newest first, in pages', async () => {
    const made = [await create(), await create(), await create()].map(({ id }) => id);
    const first = (await call('GET', '/v1/api_keys?limit=2')).body;
    expect(first).toMatchObject({ object: 'list', has_more: true, first_id: made[2], last_id: made[1] });
    expect(first.data.map(({ id }: ApiKeyBody) => id)).toEqual([made[2], made[1]]);
    expect(first.data[0]).not.toHaveProperty('key');
    const second = (await call('GET', `/v1/api_keys?limit=2&after=${first.last_id}`)).body;
    expect(second.first_id).toBe(made[0]);
    const all = (await call('GET', '/v1/api_keys')).body;
    expect(all.has_more).toBe(false);
    expect((await call('GET', `/v1/api_keys?after=${all.last_id}`)).body).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
  });

  it.each<[string, object, string, string]>([
    ['no name', { name: undefined }, 'missing_required_parameter', 'name'],
    ['a blank name', { name: '  ' }, 'invalid_value', 'name'],
    ['a long name', { name: 'x'.repeat(101) }, 'string_too_long', 'name'],
    ['a numeric name', { name: 1 }, 'invalid_type', 'name'],
    ['an unknown scope', { scopes: ['tasks:read', 'root'] }, 'invalid_value', 'scopes[1]'],
    ['no scope', { scopes: [] }, 'invalid_value', 'scopes'],
    ['null scopes', { scopes: null }, 'invalid_type', 'scopes'],
    ['an expiry in the past', { expires_at: 1_700_000_000 }, 'value_out_of_range', 'expires_at'],
    ['an expiry as text', { expires_at: '2099-01-01' }, 'invalid_type', 'expires_at'],
    ['a fraction as expiry', { expires_at: 4e9 + 0.5 }, 'invalid_type', 'expires_at'],
    ['a negative limit', { limits: { max_queued: -1 } }, 'value_out_of_range', 'limits.max_queued'],
    ['an unknown limit', { limits: { max_fun: 1 } }, 'unknown_parameter', 'limits.max_fun'],
    ['limits as a list', { limits: [] }, 'invalid_type', 'limits'],
    ['an unknown field', { admin: true }, 'unknown_parameter', 'admin'],
  ])('refuses %s', async (_, change, code, param) => {
    const { status, body } = await call('POST', '/v1/api_keys', { body: { name: 'x', ...change } });
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });

  it.each([
    ['a malformed id', 'key_nonsense'],
    ['an unknown id', 'key_01jd8e5t9kf3qs7m2v4xw6yzab'],
    ['an id in capitals', 'KEY_01JD8E5T9KF3QS7M2V4XW6YZAB'],
    ['a NUL character', '%00'],
    ['an endless id', 'x'.repeat(500)],
  ])('answers %s with 404 on every route', async (_, id) => {
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const) {
      const { status, body } = await call(method, `/v1/api_keys/${id}${path}`);
      expect([status, body.error.code]).toEqual([404, 'api_key_not_found']);
    }
  });
});

describe('rotating', () => {
  it('keeps id and scopes, gives a new key, and ends the old one at once by default', async () => {
    const old = await create({ scopes: ['tasks:read'] });
    expect(await codeOf(old.key)).toBe(200);
    const { status, body } = await call('POST', `/v1/api_keys/${old.id}/rotate`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: old.id, scopes: old.scopes, created_at: old.created_at });
    expect([body.key === old.key, body.hint === old.hint]).toEqual([false, false]);
    expect([await codeOf(old.key), await codeOf(body.key)]).toEqual(['api_key_expired', 200]);
  });

  it('accepts both keys during the overlap, and a later rotation without overlap ends both', async () => {
    const first = await create();
    const second = (await call('POST', `/v1/api_keys/${first.id}/rotate`, { body: { overlap_hours: 1 } })).body;
    expect([await codeOf(first.key), await codeOf(second.key)]).toEqual([200, 200]);
    expect((await callerOf(first.key)).apiKeyId).toBe(first.id);

    const third = (await call('POST', `/v1/api_keys/${first.id}/rotate`, { body: { overlap_hours: 0 } })).body;
    expect(await Promise.all([first, second, third].map(({ key }) => codeOf(key)))).toEqual([
      'api_key_expired',
      'api_key_expired',
      200,
    ]);
  });

  it('ends the overlap on time', async () => {
    const { key, id } = await create();
    await call('POST', `/v1/api_keys/${id}/rotate`, { body: { overlap_hours: 1 } });
    expect(await codeOf(key)).toBe(200);
    const secrets = await queryOnce<{ left_s: number }>(
      database.url,
      `update api_key_secrets set expires_at = now() where api_key_id = $1 and expires_at is not null
       returning (select extract(epoch from s.expires_at - now())::float8 from api_key_secrets s where s.hash = api_key_secrets.hash) as left_s`,
      [id],
    );
    expect(secrets).toEqual([{ left_s: expect.closeTo(3600, -3) }]);
    service.app.get(Authenticator).forget([id]);
    expect(await codeOf(key)).toBe('api_key_expired');
  });

  it('refuses every secret that was rotated away as expired, however long ago that was', async () => {
    const first = await create();
    const second = (await call('POST', `/v1/api_keys/${first.id}/rotate`)).body;
    await service.app
      .get(DataSource)
      .query(
        `update api_key_secrets set expires_at = expires_at - interval '400 days' where api_key_id = $1 and expires_at is not null`,
        [first.id],
      );
    await call('POST', `/v1/api_keys/${first.id}/rotate`);
    expect([await codeOf(first.key), await codeOf(second.key)]).toEqual(['api_key_expired', 'api_key_expired']);
  });

  it('leaves one current secret when rotations race', async () => {
    const { id } = await create();
    const racing = await Promise.all(Array.from({ length: 5 }, () => call('POST', `/v1/api_keys/${id}/rotate`)));
    expect(racing.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const codes = await Promise.all(racing.map(({ body }) => codeOf(body.key)));
    expect(codes.filter((code) => code === 200)).toHaveLength(1);
    const hint = (await call('GET', `/v1/api_keys/${id}`)).body.hint;
    expect(racing[codes.indexOf(200)]!.body.hint).toBe(hint);
  });

  it.each([
    [-1, 'value_out_of_range'],
    [169, 'value_out_of_range'],
    ['1', 'invalid_type'],
    [null, 'invalid_type'],
  ])('refuses an overlap of %j hours', async (overlap_hours, code) => {
    const { id } = await create();
    const { status, body } = await call('POST', `/v1/api_keys/${id}/rotate`, { body: { overlap_hours } });
    expect([status, body.error.code, body.error.param]).toEqual([400, code, 'overlap_hours']);
  });
});

describe('revoking', () => {
  it('ends a key at once; afterwards it is not found', async () => {
    const { key, id } = await create();
    expect(await codeOf(key)).toBe(200);
    expect((await call('DELETE', `/v1/api_keys/${id}`)).status).toBe(204);
    expect(await codeOf(key)).toBe('api_key_revoked');
    expect((await call('GET', `/v1/api_keys/${id}`)).body.error.code).toBe('api_key_not_found');
    expect((await call('DELETE', `/v1/api_keys/${id}`)).body.error.code).toBe('api_key_not_found');
    expect((await call('POST', `/v1/api_keys/${id}/rotate`)).body.error.code).toBe('api_key_not_found');
    expect((await call('GET', '/v1/api_keys')).body.data.map((shown: ApiKeyBody) => shown.id)).not.toContain(id);
  });
});

describe('the audit trail of API keys', () => {
  it('is kept for 400 days', async () => {
    const { id: old } = await create();
    const { id: young } = await create();
    const age = 'update audit_events set created_at = now() - make_interval(days => $2) where target_id = $1';
    await queryOnce(database.url, age, [old, 401]);
    await queryOnce(database.url, age, [young, 399]);
    expect(await service.app.get(AuditLog).purge()).toBe(1);
    expect((await call('GET', `/v1/operations/audit_events?target_id=${old}`)).body.data).toEqual([]);
    expect((await call('GET', `/v1/operations/audit_events?target_id=${young}`)).body.data).toHaveLength(1);
  });
});

describe('the first key', () => {
  it('is made once, with every scope, even when two processes start at the same time', async () => {
    const fresh = await cloneDatabase();
    const starts = await Promise.all([1, 2].map(() => start({ BOOTSTRAP_API_KEY: '' }, fresh)));
    const later = await start({ BOOTSTRAP_API_KEY: '' }, fresh);
    try {
      const made = starts.map(({ firstKey }) => firstKey).filter((key) => key !== null);
      expect(made).toHaveLength(1);
      for (const { baseUrl } of [...starts, later]) {
        const { data } = (await call('GET', '/v1/api_keys', { key: made[0], on: baseUrl })).body;
        expect(data.map(({ scopes }: ApiKeyBody) => scopes)).toEqual([SCOPES]);
      }
      expect(later.firstKey).toBeNull();
    } finally {
      await Promise.all([...starts, later].map((process) => process.close()));
      await fresh.drop();
    }
  });

  it.each<Record<string, string>>([{ NODE_ENV: 'production' }, { ROLE: 'worker' }])(
    'is neither made nor printed with %o',
    async (settings) => {
      const fresh = await cloneDatabase();
      const started = await start({ BOOTSTRAP_API_KEY: '', ...settings }, fresh);
      try {
        expect(started.firstKey).toBeNull();
        expect(await started.app.get(DataSource).query('select id from api_keys')).toEqual([]);
      } finally {
        await started.close();
        await fresh.drop();
      }
    },
  );

  it('is BOOTSTRAP_API_KEY if set: the same at every start, never shown, and revoked for good', async () => {
    const fresh = await cloneDatabase();
    const key = newApiKey();
    const starts = await Promise.all([1, 2].map(() => start({ BOOTSTRAP_API_KEY: key }, fresh)));
    try {
      expect(starts.map(({ firstKey }) => firstKey)).toEqual([null, null]);
      const on = starts[0]!.baseUrl;
      const { data } = (await call('GET', '/v1/api_keys', { key, on })).body;
      expect(data.map(({ scopes }: ApiKeyBody) => scopes)).toEqual([SCOPES]);

      const audit = (await call('GET', '/v1/operations/audit_events?limit=100', { key, on })).body.data;
      expect(audit.at(-1)).toMatchObject({
        action: 'api_key.created',
        actor_type: 'service',
        actor_id: null,
        ip: null,
      });

      expect((await call('DELETE', `/v1/api_keys/${data[0].id}`, { key, on })).status).toBe(204);
      starts.push(await start({ BOOTSTRAP_API_KEY: key }, fresh));
      expect(starts[2]!.firstKey).toBeNull();
      for (const { baseUrl } of [starts[0]!, starts[2]!]) expect(await codeOf(key, baseUrl)).toBe('api_key_revoked');
    } finally {
      await Promise.all(starts.map((process) => process.close()));
      await fresh.drop();
    }
  });

  it('is never BOOTSTRAP_API_KEY again once that was rotated away, however old the rotation is', async () => {
    const fresh = await cloneDatabase();
    const preset = newApiKey();
    const first = await start({ BOOTSTRAP_API_KEY: preset }, fresh);
    const rotated = async (key: string) => {
      const on = first.baseUrl;
      const { id } = (await call('GET', '/v1/api_keys', { key, on })).body.data[0];
      return (await call('POST', `/v1/api_keys/${id}/rotate`, { key, on, body: { overlap_hours: 0 } })).body.key;
    };
    const second = await rotated(preset);
    const age = `update api_key_secrets set expires_at = expires_at - interval '31 days' where expires_at is not null`;
    await queryOnce(fresh.url, age);
    await rotated(second);
    await first.close();
    const later = await start({ BOOTSTRAP_API_KEY: preset }, fresh);
    try {
      expect(await codeOf(preset, later.baseUrl)).toBe('api_key_expired');
    } finally {
      await later.close();
      await fresh.drop();
    }
  });

  it('stops the start if its checksum is wrong', async () => {
    const key = newApiKey();
    const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    await expect(start({ BOOTSTRAP_API_KEY: wrong })).rejects.toThrow(/BOOTSTRAP_API_KEY.*checksum/);
  });
});

describe('the command line', () => {
  const env = { ...process.env };
  let printed: jest.SpiedFunction<typeof console.log>;

  beforeEach(() => {
    Object.assign(process.env, { DATABASE_URL: database.url, SECRET_KEY });
    printed = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    process.env = { ...env };
  });
  const lastPrinted = () => String(printed.mock.calls.at(-1)![0]);

  it('creates a key that the running service accepts at once; lists, rotates and revokes it', async () => {
    await createKey('from the shell', { scopes: ['tasks:read'], maxRunning: 2 });
    const key = lastPrinted();
    expect(await codeOf(key)).toBe(200);
    const caller = await callerOf(key);
    expect(caller).toMatchObject({ scopes: ['tasks:read'], limits: { maxRunning: 2 } });

    await listKeys({});
    expect(lastPrinted()).toMatch(new RegExp(`^${caller.apiKeyId} .*tasks:read +from the shell$`, 'm'));
    expect(lastPrinted()).not.toContain(key);

    await rotateKey(caller.apiKeyId, { overlapHours: 1 });
    const rotated = lastPrinted();
    expect([await codeOf(key), await codeOf(rotated)]).toEqual([200, 200]);

    await revokeKey(caller.apiKeyId);
    service.app.get(Authenticator).forget([caller.apiKeyId]); // instead of waiting for 5 s
    expect([await codeOf(key), await codeOf(rotated)]).toEqual(['api_key_revoked', 'api_key_revoked']);
  });

  it('sets limits, the expiry and a budget, and none removes them', async () => {
    await createKey('with limits', {});
    const { apiKeyId } = await callerOf(lastPrinted());
    const update = async (...options: string[]) => {
      await keysCommand().parseAsync(['update', apiKeyId, ...options, '--json'], { from: 'user' });
      return JSON.parse(lastPrinted()) as { limits: object; expires_at: number | null };
    };
    const soft = ['--budget', '2.5/day', '--budget-soft-percent', '80'];
    expect(await update('--max-running', '3', '--expires', '30d', ...soft)).toMatchObject({
      limits: { max_running: 3, budget: { amount_micros: 2_500_000, period: 'day', soft_percent: 80 } },
      budget_status: { spent_micros: 0 },
      expires_at: expect.any(Number),
    });
    expect(await update('--max-running', 'none', '--expires', 'none', '--budget', 'none')).toMatchObject({
      limits: { max_running: 50, budget: null },
      budget_status: null,
      expires_at: null,
    });
  });

  it('leaves its acts in the audit trail, which is printed there', async () => {
    const { id } = await create();
    await updateKey(id, { name: 'from the shell', maxRunning: NONE, expires: NONE, json: true });
    expect(JSON.parse(lastPrinted())).toMatchObject({ limits: { max_running: 50 } });
    await revokeKey(id, { keepTasks: true });
    const { body } = await call('GET', `/v1/operations/audit_events?target_id=${id}`);
    expect(body.data.map(({ action, actor_type }: Record<string, string>) => [action, actor_type])).toEqual([
      ['api_key.revoked', 'command_line'],
      ['api_key.updated', 'command_line'],
      ['api_key.created', 'api_key'],
    ]);
    await listAuditEvents({ target: id, limit: 20 });
    expect(lastPrinted()).toMatch(new RegExp(`api_key\\.revoked +${id} +command_line`));
  });

  it('revokes the keys below one only if it says so', async () => {
    const scopes = ['keys:manage', 'tasks:read'];
    const createdBy = async (key: string): Promise<ApiKeyBody> =>
      (await call('POST', '/v1/api_keys', { key, body: { name: 'below', scopes } })).body;
    for (const flags of [[], ['--children']]) {
      const maker = await create({ scopes });
      const child = await createdBy(maker.key);
      const grandchild = await createdBy(child.key);
      await keysCommand().parseAsync(['revoke', maker.id, ...flags], { from: 'user' });
      const all = [maker, child, grandchild];
      service.app.get(Authenticator).forget(all.map(({ id }) => id));
      const below = flags.length > 0 ? 'api_key_revoked' : 200;
      expect(await Promise.all(all.map(({ key }) => codeOf(key)))).toEqual(['api_key_revoked', below, below]);
    }
  });

  it('validates like the API', async () => {
    await expect(createKey('x', { scopes: ['root'] })).rejects.toMatchObject({ code: 'invalid_value' });
    await expect(createKey(' ', {})).rejects.toMatchObject({ code: 'invalid_value' });
    await expect(rotateKey('key_x', { overlapHours: 200 })).rejects.toMatchObject({ code: 'value_out_of_range' });
    await expect(revokeKey('key_x')).rejects.toMatchObject({ code: 'api_key_not_found' });
  });

  it('prints a key for BOOTSTRAP_API_KEY without storing it', async () => {
    await createKey('x', { printOnly: true });
    expect(await codeOf(lastPrinted())).toBe('invalid_api_key');
    expect(loadConfig({ BOOTSTRAP_API_KEY: lastPrinted() }).bootstrapApiKey).toBe(lastPrinted());
  });
});

/** @returns how often `work` ran the key look-up in this process */
async function countingStatements(work: () => Promise<unknown>): Promise<number> {
  const sql = service.app.get(Sql);
  const run = sql.run.bind(sql);
  let count = 0;
  sql.run = (statement, values) => {
    if (statement.name === 'auth.find_by_hashes') count++;
    return run(statement, values);
  };
  try {
    await work();
  } finally {
    sql.run = run;
  }
  return count;
}
