import { Client } from 'pg';
import { ShareRows } from '../../src/files/sql/share-rows.ts';
import type { Sql, Statement } from '../../src/platform/database/sql.ts';
import { aCat, Api, type ErrorBody, type OutputBody, type TaskBody } from '../support/clients/api.ts';
import { Browser } from '../support/clients/browser.ts';
import { aPicture, FilesClient } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { joinSecondProcess, joinService, type SharedService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

interface ShareBody {
  id: string;
  object: string;
  url: string;
  file_ids: string[];
  show_prompt: boolean;
  created_at: number;
  expires_at: number;
}

const DAY_S = 86_400;
const inDays = (days: number) => Math.floor(Date.now() / 1000) + days * DAY_S;
const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'> &amp; שלום`;

describe('a share', () => {
  let service: SharedService;
  let database: Client;
  beforeAll(async () => {
    service = await joinService();
    database = new Client({ connectionString: service.database.url });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await service?.close();
  });

  const tenant = async (settings: object = {}) => {
    const { id, key } = await anotherKey(service.api, settings);
    return { id, key, api: new Api(service.baseUrl, key) };
  };
  const made = async (api: Api, input: object = {}): Promise<TaskBody> =>
    api.untilFinal((await api.create({ ...aCat, ...input })).body.task_id);
  const outputOf = async (api: Api, input: object = {}): Promise<OutputBody> =>
    (await made(api, input)).result!.outputs[0]!;
  const share = <Body = ShareBody>(api: Api, body: object) =>
    api.call<Body>('POST', '/v1/shares', { expires_at: inDays(7), ...body });
  const shared = async (api: Api, body: object) => {
    const answer = await share(api, body);
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.body;
  };
  const open = async (url: string, headers: Record<string, string> = { accept: 'text/html' }) => {
    const reply = await fetch(url, { headers });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  };
  const ofProgram = async (url: string) => {
    const { status, text } = await open(url, {});
    return [status, (JSON.parse(text) as ErrorBody).error.code];
  };
  const faultOf = ({ status, body }: { status: number; body: unknown }) => {
    const { error } = body as ErrorBody;
    return [status, error.code, error.param];
  };
  const codeOf = ({ status, body }: { status: number; body: unknown }) => [status, (body as ErrorBody).error.code];

  it('is a page that needs no key, with the file, its model and no prompt', async () => {
    const { api } = await tenant();
    const output = await outputOf(api, { prompt: 'a secret idea' });
    const before = Math.floor(Date.now() / 1000);
    const expires_at = inDays(3);
    const { body, status, headers } = await share(api, { file_ids: [output.id], expires_at });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(body).toEqual({
      id: expect.stringMatching(/^share_[0-9a-z]{26}$/),
      object: 'share',
      url: expect.stringMatching(new RegExp(`^${service.baseUrl}/s/${body.id.slice(6)}[\\w-]{43}$`)),
      file_ids: [output.id],
      show_prompt: false,
      created_at: expect.any(Number),
      expires_at,
    });
    expect(body.created_at).toBeGreaterThanOrEqual(before - 1);

    const page = await open(body.url);
    expect(page.status).toBe(200);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; img-src 'self'; media-src 'self'; style-src 'sha256-/,
      ),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'x-content-type-options': 'nosniff',
    });
    expect(page.headers.get('set-cookie')).toBeNull();
    expect(page.text).toContain('Picture made with gpt-image-2');
    expect(page.text).not.toContain('secret idea');
    expect(page.text).not.toContain(output.id);
    expect(page.text).toContain(`<meta property="og:image" content="${body.url}/0/preview">`);
    expect((await open(`${body.url}?utm_source=chat`)).status).toBe(200);
    expect((await fetch(body.url, { method: 'HEAD' })).status).toBe(200);
  });

  it('serves the bytes of its files, in parts too, and a small still', async () => {
    const { api } = await tenant();
    const output = await outputOf(api);
    const { url } = await shared(api, { file_ids: [output.id] });
    const original = Buffer.from(await (await fetch(output.url)).arrayBuffer());
    const whole = await fetch(`${url}/0`);
    expect(Buffer.from(await whole.arrayBuffer()).equals(original)).toBe(true);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': output.content_type,
      'content-length': String(original.length),
      'cache-control': 'private, no-cache',
      'content-security-policy': expect.stringContaining('sandbox'),
      'x-robots-tag': 'noindex',
    });
    const part = await fetch(`${url}/0`, { headers: { range: 'bytes=1-3' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 1-3/${original.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(original.subarray(1, 4));
    const head = await fetch(`${url}/0`, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(original.length));
    const known = await fetch(`${url}/0`, { headers: { 'if-none-match': whole.headers.get('etag')! } });
    expect(known.status).toBe(304);
    const saved = await fetch(`${url}/0?download`);
    expect(saved.headers.get('content-disposition')).toBe('attachment; filename="darkroom-1.png"');
    await saved.arrayBuffer();
    const still = await fetch(`${url}/0/preview`);
    expect([still.status, still.headers.get('content-type')]).toEqual([200, 'image/webp']);
    await still.arrayBuffer();
    for (const index of ['1', '8', '-1', '00', 'x', '0/1']) {
      expect([index, (await open(`${url}/${index}`, {})).status]).toEqual([index, 404]);
    }
  });

  it('compares files, and shows their prompts as text', async () => {
    const { api } = await tenant();
    const [one, two] = await Promise.all([outputOf(api, { prompt: HOSTILE }), outputOf(api, { prompt: 'another' })]);
    const upload = (await new FilesClient(api).upload(await aPicture())).body;
    const { url } = await shared(api, { file_ids: [one.id, two.id, upload.id], show_prompt: true });
    const { text } = await open(url);
    expect(text).toContain('<h1>3 pictures</h1>');
    expect(text).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).not.toMatch(/<script|<img src=x|onerror='/);
    expect(text.match(/class="prompt"/g)).toHaveLength(2);
    expect((await fetch(`${url}/2`)).headers.get('content-type')).toBe('image/png');
    expect(await ofProgram(`${url}/2/preview`)).toEqual([404, 'variant_not_available']);
  });

  it('plays a film', async () => {
    const { api } = await tenant();
    const output = await outputOf(api, { model: 'sora-2', prompt: 'a wave', resolution: '720P', duration: 1 });
    const { url } = await shared(api, { file_ids: [output.id] });
    const { text } = await open(url);
    expect(text).toMatch(/<video src="[^"]+\/0" width="\d+" height="\d+" controls/);
    expect(text).toContain('<meta property="og:video:type" content="video/mp4">');
    expect(text).toContain('Film made with sora-2');
  });

  it('is of own pictures and films only, and names the entry at fault', async () => {
    const [mine, theirs] = [await tenant(), await tenant()];
    const [own, foreign] = [await outputOf(mine.api), await outputOf(theirs.api)];
    const refused = async (body: object) => faultOf(await share<ErrorBody>(mine.api, body));
    expect(await refused({ file_ids: [own.id, foreign.id] })).toEqual([400, 'file_not_found', 'file_ids[1]']);
    expect(await refused({ file_ids: ['file_unknown'] })).toEqual([400, 'file_not_found', 'file_ids[0]']);
    const lines = await new FilesClient(mine.api).upload(
      '{"custom_id":"a","method":"POST","url":"/v1/generations","body":{}}\n',
      { purpose: 'batch' },
      { name: 'lines.jsonl', type: 'application/jsonl' },
    );
    expect(await refused({ file_ids: [lines.body.id] })).toEqual([400, 'invalid_value', 'file_ids[0]']);
    const pending = await new FilesClient(mine.api).announce(await aPicture());
    expect(await refused({ file_ids: [pending.id] })).toEqual([409, 'upload_incomplete', 'file_ids[0]']);
    await mine.api.call('DELETE', `/v1/files/${own.id}`);
    expect(await refused({ file_ids: [own.id] })).toEqual([400, 'file_expired', 'file_ids[0]']);
    expect((await mine.api.get<{ data: unknown[] }>('/v1/shares')).body.data).toEqual([]);
  });

  it.each([
    [{ file_ids: [] }, 'file_ids'],
    [{ file_ids: Array.from({ length: 9 }, (_, index) => `file_${index}`) }, 'file_ids'],
    [{ file_ids: ['file_a', 'file_a'] }, 'file_ids'],
    [{ file_ids: [7] }, 'file_ids'],
    [{ file_ids: 'file_a' }, 'file_ids'],
    [{}, 'file_ids'],
    [{ file_ids: ['file_a'], show_prompt: 'yes' }, 'show_prompt'],
    [{ file_ids: ['file_a'], expires_at: undefined }, 'expires_at'],
    [{ file_ids: ['file_a'], expires_at: '2027-01-01' }, 'expires_at'],
    [{ file_ids: ['file_a'], expires_at: 1 }, 'expires_at'],
    [{ file_ids: ['file_a'], expires_at: inDays(-1) }, 'expires_at'],
    [{ file_ids: ['file_a'], expires_at: inDays(366) }, 'expires_at'],
    [{ file_ids: ['file_a'], expires_at: 1e300 }, 'expires_at'],
    [{ file_ids: ['file_a'], expires_at: inDays(1) + 0.5 }, 'expires_at'],
    [{ file_ids: ['file_a'], password: 'x' }, 'password'],
  ])('refuses %j', async (body, param) => {
    const answer = await share<ErrorBody>(service.api, body);
    expect([answer.status, answer.body.error.param?.replace(/\[.*/, '')]).toEqual([400, param]);
  });

  it('does not open with a changed token, for people and for programs', async () => {
    const { api } = await tenant();
    const [one, two] = [await outputOf(api), await outputOf(api)];
    const { url } = await shared(api, { file_ids: [one.id] });
    const other = await shared(api, { file_ids: [two.id] });
    const swapped = url.slice(0, -43) + other.url.slice(-43);
    const twin = url.slice(0, -1) + String.fromCharCode(url.charCodeAt(url.length - 1) + 1);
    const forged = [swapped, url.slice(0, -1), `${url}x`, twin, `${service.baseUrl}/s/x`, url.toUpperCase().replace(/^.*\/S\//, `${service.baseUrl}/s/`)]; // prettier-ignore
    for (const each of forged) {
      expect([each, ...(await ofProgram(each))]).toEqual([each, 403, 'invalid_signature']);
      expect([each, ...(await ofProgram(`${each}/0`))]).toEqual([each, 403, 'invalid_signature']);
    }
    const page = await open(swapped);
    expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(page.text).toContain('This link does not work');
  });

  it('ends with its date, everywhere at once', async () => {
    const { api } = await tenant();
    const output = await outputOf(api);
    const { id, url } = await shared(api, { file_ids: [output.id] });
    expect((await open(url)).status).toBe(200);
    await database.query(`update shares set expires_at = now() - interval '1 second' where id = $1`, [id]);
    const other = url.replace(service.baseUrl, await joinSecondProcess(service));
    for (const each of [url, `${url}/0`, `${url}/0/preview`, other]) {
      expect(await ofProgram(each)).toEqual([410, 'share_ended']);
    }
    const page = await open(url);
    expect([page.status, page.headers.get('content-type')]).toEqual([410, 'text/html; charset=utf-8']);
    expect(page.text).toContain('This share has ended');
    expect((await api.get<{ data: unknown[] }>('/v1/shares')).body.data).toEqual([]);
    expect(codeOf(await api.call('DELETE', `/v1/shares/${id}`))).toEqual([404, 'share_not_found']);
    expect((await fetch(output.url)).status).toBe(200);
  });

  it('is purged once it has ended, and not before', async () => {
    const { id: keyId, api } = await tenant();
    const { id: fileId } = await outputOf(api);
    const ended = await shared(api, { file_ids: [fileId] });
    const lasting = await shared(api, { file_ids: [fileId] });
    await database.query(`update shares set expires_at = now() - interval '1 second' where id = $1`, [ended.id]);
    const run = async ({ text }: Statement) => (await database.query(text)).rows;
    const rows = new ShareRows({ run } as unknown as Sql);
    const left = async () => {
      const found = await database.query<{ id: string }>('select id from shares where api_key_id = $1', [keyId]);
      return found.rows.map(({ id }) => id);
    };
    // The service purges too, and may hold the row at this moment.
    await eventually('the purge', async () => {
      await rows.purge();
      return !(await left()).includes(ended.id);
    });
    expect(await left()).toEqual([lasting.id]);
  });

  it('ends when it is deleted, by its owner only', async () => {
    const [mine, theirs] = [await tenant(), await tenant()];
    const { id, url } = await shared(mine.api, { file_ids: [(await outputOf(mine.api)).id] });
    expect(codeOf(await theirs.api.call('DELETE', `/v1/shares/${id}`))).toEqual([404, 'share_not_found']);
    expect(codeOf(await mine.api.call('DELETE', '/v1/shares/nonsense'))).toEqual([404, 'share_not_found']);
    expect((await open(url)).status).toBe(200);
    const { status, body } = await mine.api.call('DELETE', `/v1/shares/${id}`);
    expect([status, body]).toEqual([200, { id, object: 'share', deleted: true }]);
    expect(await ofProgram(url)).toEqual([410, 'share_ended']);
    expect(await ofProgram(`${url}/0`)).toEqual([410, 'share_ended']);
    expect(codeOf(await mine.api.call('DELETE', `/v1/shares/${id}`))).toEqual([404, 'share_not_found']);
  });

  it('ends with its key, and with a bounded key above it', async () => {
    const bounded = await tenant({
      scopes: ['keys:manage', 'generations:write', 'tasks:read'],
      limits: { max_queued: 100 },
    });
    const below = await anotherKey(bounded.api, {
      scopes: ['generations:write', 'tasks:read'],
      limits: { max_queued: 10 },
    });
    const own = await tenant();
    const apis = [own.api, new Api(service.baseUrl, below.key)];
    const urls = await Promise.all(
      apis.map(async (api) => (await shared(api, { file_ids: [(await outputOf(api)).id] })).url),
    );
    for (const url of urls) expect((await open(url)).status).toBe(200);
    for (const { id } of [own, bounded]) {
      expect((await service.api.call('DELETE', `/v1/api_keys/${id}`)).status).toBe(204);
    }
    for (const url of urls) {
      expect(await ofProgram(url)).toEqual([410, 'share_ended']);
      expect(await ofProgram(`${url}/0`)).toEqual([410, 'share_ended']);
    }
  });

  it('shows that a file is deleted, and is gone with the last one', async () => {
    const { api } = await tenant();
    const tasks = [await made(api), await made(api)];
    const file_ids = tasks.map(({ result }) => result!.outputs[0]!.id);
    const { url } = await shared(api, { file_ids });
    await api.call('DELETE', `/v1/files/${file_ids[0]}`);
    const page = await open(url);
    expect([page.status, page.text.match(/This file is deleted/g)?.length]).toEqual([200, 1]);
    expect(page.text).toContain('<h1>1 picture</h1>');
    expect(await ofProgram(`${url}/0`)).toEqual([410, 'file_expired']);
    expect(await ofProgram(`${url}/0/preview`)).toEqual([410, 'file_expired']);
    expect((await fetch(`${url}/1`)).status).toBe(200);
    await api.call('DELETE', `/v1/tasks/${tasks[1]!.task_id}`);
    expect(await ofProgram(url)).toEqual([410, 'file_expired']);
    expect((await open(url)).text).toContain('This file is deleted');
  });

  it('stops no retention', async () => {
    const { api } = await tenant();
    const task = await made(api);
    const before = (await api.get(`/v1/tasks/${task.task_id}`)).body;
    await shared(api, { file_ids: [task.result!.outputs[0]!.id], expires_at: inDays(300) });
    expect((await api.get(`/v1/tasks/${task.task_id}`)).body).toEqual(before);
  });

  it('is made by a key with generations:write, and never by the cookie of a browser', async () => {
    const { key, api } = await tenant();
    const output = await outputOf(api);
    const reader = await tenant({ scopes: ['tasks:read'] });
    const refused = await share<ErrorBody>(reader.api, { file_ids: [output.id] });
    expect(codeOf(refused)).toEqual([403, 'insufficient_scope']);
    const browser = new Browser(service.baseUrl);
    await browser.signIn({ api_key: key });
    const body = { file_ids: [output.id], expires_at: inDays(1) };
    const byCookie = await browser.call<ErrorBody>('POST', '/v1/shares', body);
    expect(codeOf(byCookie)).toEqual([401, 'missing_api_key']);
    expect(codeOf(await browser.call<ErrorBody>('GET', '/v1/shares'))).toEqual([401, 'missing_api_key']);
    // At /graphql, which accepts the cookie, a page elsewhere is refused.
    const document = `mutation { createShare(input: { fileIds: ["${output.id}"], expiresAt: ${inDays(1)} }) { url } }`;
    const foreign = await browser.withOrigin('http://evil.example').ask(document);
    expect(foreign.errors![0]!.extensions.code).toBe('origin_not_allowed');
    expect((await api.get<{ data: unknown[] }>('/v1/shares')).body.data).toEqual([]);
    expect((await browser.ask<{ createShare: { url: string } }>(document)).data.createShare.url).toContain('/s/');
  });

  it('is listed, newest first, in pages, and is the same over GraphQL', async () => {
    const { key, api } = await tenant();
    const { id: fileId } = await outputOf(api);
    const all: ShareBody[] = [];
    for (const show_prompt of [true, false, true]) all.unshift(await shared(api, { file_ids: [fileId], show_prompt }));
    const page = await api.get<{ data: ShareBody[]; has_more: boolean; last_id: string }>('/v1/shares?limit=2');
    expect(page.body).toMatchObject({ object: 'list', data: all.slice(0, 2), has_more: true, last_id: all[1]!.id });
    const rest = await api.get<{ data: ShareBody[] }>(`/v1/shares?after=${page.body.last_id}`);
    expect(rest.body.data).toEqual(all.slice(2));
    expect(codeOf(await api.get('/v1/shares?after=x'))).toEqual([400, 'invalid_value']);

    const graphql = new GraphqlClient(service.baseUrl, key);
    const fields = 'id object url fileIds showPrompt createdAt expiresAt';
    const { data } = await graphql.ask<{ shares: { edges: { node: object }[]; pageInfo: object } }>(
      `{ shares(first: 1, after: "${all[0]!.id}") { edges { node { ${fields} } } pageInfo { hasNextPage } } }`,
    );
    const inGraphql = ({ id, object, url, file_ids, show_prompt, created_at, expires_at }: ShareBody) =>
      ({ id, object, url, fileIds: file_ids, showPrompt: show_prompt, createdAt: created_at, expiresAt: expires_at }); // prettier-ignore
    expect(data.shares).toEqual({ edges: [{ node: inGraphql(all[1]!) }], pageInfo: { hasNextPage: true } });
    const made = await graphql.ask<{ createShare: { id: string; url: string; showPrompt: boolean } }>(
      `mutation { createShare(input: { fileIds: ["${fileId}"], expiresAt: ${inDays(1)}, showPrompt: null }) { id url showPrompt } }`,
    );
    expect(made.data.createShare.showPrompt).toBe(false);
    expect((await open(made.data.createShare.url)).status).toBe(200);
    const deleted = await graphql.ask(`mutation { deleteShare(id: "${made.data.createShare.id}") { id deleted } }`);
    expect(deleted.data).toEqual({ deleteShare: { id: made.data.createShare.id, deleted: true } });
    expect((await open(made.data.createShare.url)).status).toBe(410);
    const faults = await graphql.ask('mutation { createShare(input: { fileIds: ["x"], expiresAt: 1 }) { id } }');
    expect(faults.errors![0]!.extensions.code).toBe('value_out_of_range');
  });

  it('is one of at most 1,000 that a key has, and one that has ended does not count', async () => {
    const { id, api } = await tenant();
    const output = await outputOf(api);
    await database.query(
      `insert into shares (id, api_key_id, file_ids, show_prompt, expires_at)
       select 'share_' || substr(md5($1 || n), 1, 26), $1, array['file_a'], false, now() + interval '1 day' from generate_series(1, 1000) n`,
      [id],
    );
    expect(codeOf(await share(api, { file_ids: [output.id] }))).toEqual([400, 'too_many_items']);
    await database.query(
      `update shares set expires_at = now() - interval '1 day' where id = (select min(id) from shares where api_key_id = $1)`,
      [id],
    );
    expect((await share(api, { file_ids: [output.id] })).status).toBe(201);
    await database.query('delete from shares where api_key_id = $1', [id]);
  });

  it('is recorded in the audit log, as its end is', async () => {
    const { id: keyId, api } = await tenant();
    const output = await outputOf(api);
    const { id, expires_at } = await shared(api, { file_ids: [output.id], show_prompt: true });
    await api.call('DELETE', `/v1/shares/${id}`);
    const { body } = await service.api.get<{ data: object[] }>(`/v1/operations/audit_events?target_id=${id}`);
    const after = { file_ids: [output.id], show_prompt: true, expires_at };
    expect(body.data).toEqual([
      expect.objectContaining({ action: 'share.deleted', target_type: 'share', actor_id: keyId, after: null }),
      expect.objectContaining({ action: 'share.created', target_type: 'share', actor_id: keyId, after }),
    ]);
  });
});
