// Own settings for sign-ins, which are counted by address; the rest joins.
import { Client } from 'pg';
import { type TestService, joinService, startOwnService } from '../support/service.ts';
import { Api } from '../support/clients/api.ts';
import { Browser, type SessionBody } from '../support/clients/browser.ts';
import { darkroom } from '../support/darkroom-command.ts';
import { eventually } from '../support/wait.ts';
import { newApiKey } from '../../src/auth/credentials/api-key-format.ts';
import { newToken, tokenHashOf } from '../../src/auth/credentials/random-token.ts';
import { queryOnce } from '../support/faults/watch.ts';

const VIEWER = '{ viewer { id name } }';

describe('the session of a browser', () => {
  let service: TestService;
  let counter = 0;

  beforeAll(async () => {
    service = await joinService();
  });
  afterAll(() => service.close());

  const newKey = async (body: object = {}) => {
    const reply = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', {
      name: `key ${counter++}`,
      ...body,
    });
    expect(reply.status).toBe(201);
    return reply.body;
  };
  const signedIn = async (key?: string) => {
    const browser = new Browser(service.baseUrl);
    const reply = await browser.signIn({ api_key: key ?? (await newKey()).key });
    expect(reply.status).toBe(201);
    return { browser, session: reply.body };
  };

  it('is a cookie that scripts cannot read, and no key', async () => {
    const { id, key } = await newKey();
    const browser = new Browser(service.baseUrl);
    const { status, headers, body, text } = await browser.signIn({ api_key: key });
    expect(status).toBe(201);
    expect(headers.get('set-cookie')).toMatch(/^darkroom_session=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ object: 'session', id: expect.stringMatching(/^sess_/), api_key: { id } });
    expect(body.expires_at).toBeGreaterThan(Date.now() / 1000 + 11 * 3600);
    expect(text).not.toContain(key);
    expect((await browser.call<SessionBody>('GET', '/v1/session')).body).toMatchObject({
      id: body.id,
      api_key: { id },
    });
    expect((await browser.ask(VIEWER)).data).toMatchObject({ viewer: { id } });
  });

  it('over https has the __Host- prefix, and lives on when asked', async () => {
    const { key } = await newKey();
    const origin = new URL(service.baseUrl).origin.replace('http', 'https'); // a proxy ended TLS
    const browser = new Browser(service.baseUrl, origin);
    const { headers } = await browser.signIn({ api_key: key, remember: true });
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-darkroom_session=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Secure; Max-Age=2592000$/,
    );
    const [name] = browser.cookie.split('=');
    expect((await browser.ask(VIEWER)).status).toBe(200);
    // The plain cookie, which a neighbour on another port could set, does not count for a page over https.
    const plain = { cookie: browser.cookie.replace(name!, 'darkroom_session') };
    const { errors } = await new Browser(service.baseUrl, origin).ask(VIEWER, plain);
    expect(errors?.[0]?.extensions.code).toBe('missing_api_key');
  });

  it('counts for pages of the service only', async () => {
    const { browser } = await signedIn();
    const { port } = new URL(service.baseUrl);
    for (const origin of [`http://127.0.0.1:${Number(port) + 1}`, `http://localhost:${port}`, 'null']) {
      const page = browser.withOrigin(origin);
      const { status, errors } = await page.ask(VIEWER);
      expect([status, errors?.[0]?.extensions.code]).toEqual([403, 'origin_not_allowed']);
      for (const method of ['GET', 'DELETE']) {
        const reply = await page.call<SessionBody>(method, '/v1/session');
        expect([reply.status, reply.body.error.code]).toEqual([403, 'origin_not_allowed']);
      }
      expect(await page.upgradeStatus()).toBe(403);
    }
    const withoutOrigin = await new Api(service.baseUrl, null).call<{ errors: { extensions: { code: string } }[] }>(
      'POST',
      '/graphql',
      { query: VIEWER },
      { cookie: browser.cookie },
    );
    expect([withoutOrigin.status, withoutOrigin.body.errors[0]!.extensions.code]).toEqual([403, 'origin_not_allowed']);
    const refused = await new Browser(service.baseUrl, 'http://evil.test').signIn({ api_key: (await newKey()).key });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'origin_not_allowed']);
    expect((await browser.ask(VIEWER)).status).toBe(200);
  });

  it('counts at GraphQL, uploads and itself only; a header wins over it', async () => {
    const { browser } = await signedIn();
    for (const path of ['/v1/tasks', '/v1/models', '/v1/api_keys']) {
      const reply = await browser.call<SessionBody>('GET', path);
      expect([path, reply.status, reply.body.error.code]).toEqual([path, 401, 'missing_api_key']);
    }
    const created = await browser.call<SessionBody>('POST', '/v1/generations', { model: 'gpt-image-2', prompt: 'x' });
    expect([created.status, created.body.error.code]).toEqual([401, 'missing_api_key']);
    const viaGet = await browser.call<{ errors: { extensions: { code: string } }[] }>(
      'GET',
      `/graphql?query=${encodeURIComponent(VIEWER)}`,
      undefined,
      { 'content-type': 'application/json' },
    );
    expect(viaGet.body.errors[0]!.extensions.code).toBe('missing_api_key');

    const form = new FormData();
    form.append('purpose', 'vision');
    form.append('file', new Blob(['not a picture'], { type: 'image/png' }), 'a.png');
    const upload = await fetch(new URL('/v1/files', service.baseUrl), {
      method: 'POST',
      body: form,
      headers: { cookie: browser.cookie, origin: browser.origin },
    });
    expect([upload.status, ((await upload.json()) as SessionBody).error.code]).toEqual([400, 'invalid_image']);

    const other = await newKey();
    const { data } = await browser.ask<{ viewer: { id: string } }>(VIEWER, { authorization: `Bearer ${other.key}` });
    expect(data.viewer.id).toBe(other.id);
  });

  it('is refused before the body is parsed when it can be none', async () => {
    const headers = { cookie: 'darkroom_session=x', origin: new URL(service.baseUrl).origin };
    const reply = await fetch(new URL('/v1/files', service.baseUrl), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{ no json',
    });
    expect([reply.status, ((await reply.json()) as SessionBody).error.code]).toEqual([401, 'session_expired']);
  });

  it('tells unknown, revoked and missing keys apart, and sets no cookie', async () => {
    const revoked = await newKey();
    await service.api.call('DELETE', `/v1/api_keys/${revoked.id}`);
    for (const [by, status, code] of [
      [{ api_key: 'dr_' + 'a'.repeat(46) }, 401, 'invalid_api_key'],
      [{ api_key: 'hello' }, 401, 'invalid_api_key'],
      [{ api_key: revoked.key }, 401, 'api_key_revoked'],
      [{ code: 'hello' }, 401, 'invalid_sign_in_code'],
      [{}, 400, 'missing_required_parameter'],
      [{ api_key: revoked.key, code: 'x' }, 400, 'invalid_value'],
      [{ api_key: 'x'.repeat(5000) }, 413, 'payload_too_large'],
    ] as const) {
      const reply = await new Browser(service.baseUrl).signIn(by);
      expect([reply.status, reply.body.error.code]).toEqual([status, code]);
      expect(reply.headers.get('set-cookie')).toBeNull();
    }
    const signedOut = await new Browser(service.baseUrl).call<SessionBody>('GET', '/v1/session');
    expect([signedOut.status, signedOut.body.error.code]).toEqual([401, 'missing_api_key']);
  });

  it('ends with the secret that opened it, sockets too', async () => {
    for (const end of ['revoke', 'rotate'] as const) {
      const { id, key } = await newKey();
      const { browser } = await signedIn(key);
      let closed: number | undefined;
      await new Promise<void>((opened) => {
        void browser.socketUntilClosed(opened).then((code) => (closed = code));
      });
      if (end === 'revoke') await service.api.call('DELETE', `/v1/api_keys/${id}`);
      else await service.api.call('POST', `/v1/api_keys/${id}/rotate`, {});
      await eventually('the socket to close', async () => closed !== undefined);
      expect([end, closed]).toEqual([end, 4403]);
      const { errors } = await browser.ask(VIEWER);
      expect(errors?.[0]?.extensions.code).toBe(end === 'revoke' ? 'api_key_revoked' : 'api_key_expired');
    }
  });

  it('goes on in the browser that rotates its key, and ends in the others', async () => {
    const { id, key } = await newKey({ scopes: ['keys:manage', 'tasks:read'] });
    const [{ browser: rotating }, { browser: other }] = [await signedIn(key), await signedIn(key)];
    await rotateThrough(rotating, id);
    await eventually('the other to be signed out', async () => (await other.ask(VIEWER)).errors !== undefined);
    expect((await rotating.ask<{ viewer: { id: string } }>(VIEWER)).data.viewer.id).toBe(id);
    const { data } = await rotating.ask<{ sessions: { current: boolean }[] }>('{ sessions { current } }');
    expect(data.sessions).toEqual([{ current: true }]);
  });

  it('ends by signing out, in every tab', async () => {
    const { browser } = await signedIn();
    let closed: number | undefined;
    await new Promise<void>((opened) => void browser.socketUntilClosed(opened).then((code) => (closed = code)));
    const tab = browser.withOrigin(browser.origin);
    const reply = await browser.call('DELETE', '/v1/session');
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([
      204,
      'darkroom_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0',
    ]);
    expect((await tab.ask(VIEWER)).errors?.[0]?.extensions.code).toBe('session_expired');
    expect((await tab.call<SessionBody>('GET', '/v1/session')).status).toBe(401);
    await eventually('the socket to close', async () => closed === 4403);
  });

  it('is listed with the other browsers of its key, and each can end another', async () => {
    const { key } = await newKey();
    const [{ browser: laptop, session }, { browser: phone }] = [await signedIn(key), await signedIn(key)];
    await signedIn(); // of another key
    const list = '{ sessions { id current userAgent createdAt lastSeenAt expiresAt } }';
    const { data } = await phone.ask<{ sessions: { id: string; current: boolean }[] }>(list);
    expect(data.sessions).toHaveLength(2);
    expect(data.sessions.find(({ id }) => id === session.id)?.current).toBe(false);
    const foreign = await (await signedIn()).browser.ask(`mutation { endSession(id: "${session.id}") { id } }`);
    expect(foreign.errors?.[0]?.extensions.code).toBe('session_not_found');
    expect((await phone.ask(`mutation { endSession(id: "${session.id}") { id } }`)).errors).toBeUndefined();
    expect((await laptop.ask(VIEWER)).errors?.[0]?.extensions.code).toBe('session_expired');
    expect((await phone.ask(VIEWER)).errors).toBeUndefined();
  });

  it('is named by the audit event of what its browser does', async () => {
    const { key } = await newKey({ scopes: ['keys:manage'] });
    const browser = new Browser(service.baseUrl);
    const { body } = await browser.signIn({ api_key: key });
    const made = await browser.ask<{ createApiKey: { id: string } }>(
      'mutation { createApiKey(input: { name: "by a browser", scopes: [KEYS_MANAGE] }) { id } }',
      { 'user-agent': 'Firefox/150 (made up)' },
    );
    const path = `/v1/operations/audit_events?target_id=${made.data.createApiKey.id}`;
    const events = await service.api.get<{ data: object[] }>(path);
    expect(events.body.data[0]).toMatchObject({ session_id: body.id, user_agent: 'Firefox/150 (made up)' });
    const byProgram = await newKey();
    const program = await service.api.get<{ data: object[] }>(`/v1/operations/audit_events?target_id=${byProgram.id}`);
    expect(program.body.data[0]).toMatchObject({ session_id: null, user_agent: null });
  });

  it('replaces the one that the browser had', async () => {
    const { key } = await newKey();
    const { browser } = await signedIn(key);
    const { cookie } = browser;
    expect((await browser.ask(VIEWER)).errors).toBeUndefined(); // the process remembers it from now on
    await browser.signIn({ api_key: key });
    const { errors } = await new Browser(service.baseUrl).ask(VIEWER, { cookie });
    expect(errors![0]!.extensions.code).toBe('session_expired'); // at once
    const { data } = await browser.ask<{ sessions: object[] }>('{ sessions { id } }');
    expect(data.sessions).toHaveLength(1);
  });

  it('ends when it was unused for too long, and each use moves the end', async () => {
    const { browser, session } = await signedIn();
    await inDatabase(`update sessions set last_seen_at = now() - interval '2 minutes', expires_at = now() + interval '1 minute'
      where id = '${session.id}'`);
    await eventually('the use to be recorded', async () => {
      await browser.ask(VIEWER);
      const { body } = await browser.call<SessionBody>('GET', '/v1/session');
      return body.expires_at > Date.now() / 1000 + 3600;
    });
    await inDatabase(`update sessions set expires_at = now() - interval '1 second' where id = '${session.id}'`);
    await eventually('the session to end', async () => {
      const { errors } = await browser.ask(VIEWER);
      return errors?.[0]?.extensions.code === 'session_expired';
    });
  });

  it('is opened by a link while that is valid, and not afterwards', async () => {
    const { id } = await newKey();
    const signIn = async (validS: number) => {
      const code = newToken();
      await queryOnce(
        service.database.url,
        `insert into one_time_codes (hash, secret_hash, expires_at)
         select $1, hash, now() + make_interval(secs => $3) from api_key_secrets where api_key_id = $2`,
        [tokenHashOf(code), id, validS],
      );
      return new Browser(service.baseUrl).signIn({ code });
    };
    expect((await signIn(600)).status).toBe(201);
    const late = await signIn(-1);
    expect([late.status, late.body.error.code]).toEqual([401, 'invalid_sign_in_code']);
  });

  it('is opened by the link of the command line, at the address that DARKROOM_URL or --url names', async () => {
    const { id } = await newKey();
    const linkOf = async (args: string[], env: Record<string, string>) => {
      const { out } = await darkroom(['open', '--print', '--key', id, ...args], { ...service.env, ...env });
      return new URL(out.trim());
    };
    const named = await linkOf([], { PUBLIC_URL: 'http://127.0.0.1:1', DARKROOM_URL: `${service.baseUrl}/` });
    expect([named.origin, named.pathname]).toEqual([service.baseUrl, '/app/sign-in']);
    const code = named.hash.replace('#code=', '');
    expect((await new Browser(service.baseUrl).signIn({ code })).status).toBe(201);
    const other = { DARKROOM_URL: 'http://127.0.0.1:2' };
    expect((await linkOf(['--url', 'http://127.0.0.1:3'], other)).origin).toBe('http://127.0.0.1:3');
    expect((await linkOf([], { DARKROOM_URL: '' })).origin).toBe(service.baseUrl);
  });

  it('stores neither its token nor the code of a link', async () => {
    const { browser } = await signedIn();
    const [, token] = browser.cookie.split('=');
    const rows = await inDatabase('select row_to_json(s)::text as row from sessions s');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  async function rotateThrough(browser: Browser, id: string): Promise<void> {
    const { data, errors } = await browser.ask<{ rotateApiKey: { key: string } }>(
      `mutation { rotateApiKey(id: "${id}") { key } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.rotateApiKey.key).toMatch(/^dr_/);
  }

  async function inDatabase(statement: string): Promise<object[]> {
    const client = new Client({ connectionString: service.database.url });
    await client.connect();
    try {
      return (await client.query(statement)).rows as object[];
    } finally {
      await client.end();
    }
  }
});

describe('sign-ins', () => {
  it('by the link of the first start work once; after ten failures a minute of an address a wrong key gets 429, a right one does not', async () => {
    const service = await startOwnService({ BOOTSTRAP_API_KEY: '' });
    const { origin, pathname, hash } = new URL(service.signInLink!);
    expect([origin, pathname]).toEqual([service.baseUrl, '/app/sign-in']);
    const code = hash.replace('#code=', '');
    const tries = await Promise.all([1, 2].map(() => new Browser(service.baseUrl).signIn({ code })));
    expect(tries.map(({ status }) => status).sort()).toEqual([201, 401]); // the first failure
    const signedIn = tries.find(({ status }) => status === 201)!;
    expect(signedIn.body.api_key.name).toBe('first key');

    const signIn = (nth: number, api_key: string) =>
      new Browser(service.baseUrl).call<SessionBody>('POST', '/v1/session', { api_key }, { 'x-forwarded-for': `203.0.113.${nth}` }); // prettier-ignore
    for (let nth = 2; nth <= 10; nth++) expect((await signIn(nth, 'wrong')).status).toBe(401);
    const { status, headers, body } = await signIn(11, 'wrong');
    expect([status, body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    const right = await Promise.all(Array.from({ length: 30 }, (_, nth) => signIn(nth, service.firstKey!)));
    expect(right.map((answer) => answer.status)).toEqual(right.map(() => 201));
    await service.close();
  });

  it('behind a trusted proxy are counted for the client that failed, and not for the others', async () => {
    const service = await startOwnService({ TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8', RATE_KEYLESS_PER_MIN: '3' });
    const signIn = (forwarded: string, apiKey = 'wrong') =>
      new Browser(service.baseUrl).call('POST', '/v1/session', { api_key: apiKey }, { 'x-forwarded-for': forwarded });
    // What the client itself claims stands before the address that the first proxy saw, and does not count.
    for (let nth = 1; nth <= 10; nth++) {
      expect((await signIn(`198.51.100.${nth}, 203.0.113.7, 10.0.0.2`)).status).toBe(401);
    }
    expect((await signIn('203.0.113.7')).status).toBe(429);
    expect((await signIn('203.0.113.8')).status).toBe(401);
    expect((await signIn('203.0.113.7', service.env.BOOTSTRAP_API_KEY)).status).toBe(201);

    // Also GraphQL without a valid key.
    const ask = async (from: string, key: string | null) => {
      const query = '{ __schema { queryType { name } } }';
      const { status, body } = await new Api(service.baseUrl, key).call<{
        errors?: { extensions: { code: string } }[];
      }>('POST', '/graphql', { query }, { 'x-forwarded-for': from });
      return body.errors?.[0]!.extensions.code ?? status;
    };
    const made = newApiKey(); // of no row
    for (const key of [null, made, 'nonsense']) expect(await ask('203.0.113.9', key)).toBe(200);
    for (const key of [null, made]) expect(await ask('203.0.113.9', key)).toBe('rate_limit_exceeded');
    expect(await ask('203.0.113.10', null)).toBe(200);
    for (let nth = 0; nth < 4; nth += 1) expect(await ask('203.0.113.9', service.env.BOOTSTRAP_API_KEY!)).toBe(200);
    await service.close();
  });
});
