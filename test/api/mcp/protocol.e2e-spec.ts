// Own settings: pages of other origins may call.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type OwnService, startOwnService } from '../../support/service.ts';
import { Api, type ErrorBody } from '../../support/clients/api.ts';
import { anotherKey } from '../../support/clients/graphql-keys.ts';
import { ERAS, mcpClient, MODERN, TASKS } from '../../support/clients/mcp.ts';

const PAGE = 'https://pages.example';
const FRIEND = 'https://friend.example';

interface Rpc {
  jsonrpc: '2.0';
  id?: number;
  result?: any;
  error?: { code: number; message: string; data?: any };
}

let service: OwnService;
beforeAll(async () => void (service = await startOwnService({ MCP_ALLOWED_ORIGINS: FRIEND, CORS_ORIGINS: PAGE })));
afterAll(() => service.close());

const ACCEPT = { accept: 'application/json, text/event-stream' };

/** One request of the modern era, as a client of it writes it. */
function modern(method: string, params: Record<string, unknown> = {}, extensions: object = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { extensions },
  };
  const name = (params.name ?? params.uri ?? params.taskId) as string | undefined;
  return service.api.call<Rpc>(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    { ...ACCEPT, 'mcp-protocol-version': MODERN, 'mcp-method': method, ...(name && { 'mcp-name': name }) },
  );
}

const post = (body: unknown, headers: object = {}, api = service.api) =>
  api.call<any>('POST', '/mcp', body, { ...ACCEPT, ...headers });
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

/** `fetch` sets the headers Host and Accept itself. */
async function statusFor(given: Record<string, string>): Promise<number> {
  const authorization = `Bearer ${service.api.key}`;
  const headers = { authorization, 'content-type': 'application/json', ...given };
  const sent = request(new URL('/mcp', service.baseUrl), { method: 'POST', headers }).end(JSON.stringify(LIST));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode!;
}

describe('calls of tools that the server refuses before their tool', () => {
  it.each([
    ['without a version of JSON-RPC', 400, {}],
    ['with an id that is no integer', 400, { jsonrpc: '2.0', id: 1.5 }],
    ['with parameters of another type', 200, { jsonrpc: '2.0', params: { name: 'list_models', task: 5 } }],
    ['with a state that is no text', 200, { jsonrpc: '2.0', params: { name: 'list_models', requestState: 5 } }],
  ])('count as reads: %s', async (_, status, head) => {
    const { key } = await anotherKey(service.api, { limits: { reads_per_minute: 1 } });
    const message = { id: 1, method: 'tools/call', params: { name: 'list_models', arguments: {} }, ...head };
    const ask = async () => (await post(message, {}, new Api(service.baseUrl, key))).status;
    expect([await ask(), await ask()]).toEqual([status, 429]);
  });
});

describe('the answer to server/discover', () => {
  it('names the revision, the capabilities and how to work with the server', async () => {
    const { body, status } = await modern('server/discover');
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [MODERN],
      capabilities: { tools: {}, resources: {}, extensions: { [TASKS]: {} } },
      ttlMs: 3_600_000,
      cacheScope: 'public',
    });
    expect(body.result.instructions.length).toBeLessThanOrEqual(1_000);
    expect(body.result.instructions).toContain('get_task');
  });

  it('is cached by everybody, as the tools are, but not what belongs to a key', async () => {
    const { body: tools } = await modern('tools/list');
    expect(tools.result).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'public' });
    const { body: resources } = await modern('resources/list');
    expect(resources.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
  });
});

it.each(ERAS)('has no session in the %s era', async (era) => {
  const client = await mcpClient(era, new URL('/mcp', service.baseUrl), { key: service.api.key! });
  expect(client.getServerVersion()).toMatchObject({ name: 'darkroom' });
  await client.close();
  const { headers } = era === 'modern' ? await modern('tools/list') : await post(LIST);
  expect(headers.has('mcp-session-id')).toBe(false);
});

describe('the edge', () => {
  it.each(['GET', 'DELETE', 'PUT'])('refuses %s', async (method) => {
    const { status, headers, body } = await service.api.call<ErrorBody>(method, '/mcp');
    expect([status, headers.get('allow'), body.error.code]).toEqual([405, 'POST, OPTIONS', 'method_not_allowed']);
  });

  it.each([
    ['no key', null, 'missing_api_key'],
    ['a malformed key', 'nonsense', 'invalid_api_key'],
    ['an unknown key', `dr_${'0'.repeat(46)}`, 'invalid_api_key'],
  ])('answers a request with %s in our envelope', async (_what, key, code) => {
    const { status, headers, body } = await post(LIST, {}, new Api(service.baseUrl, key));
    expect([status, headers.get('www-authenticate'), body.error.code]).toEqual([401, 'Bearer', code]);
  });

  it('refuses a page of another origin, with or without a key, and before the body', async () => {
    for (const api of [service.api, new Api(service.baseUrl, null)]) {
      const { status, body } = await post(LIST, { origin: 'https://evil.example' }, api);
      expect(status).toBe(403);
      expect(body).toEqual({
        jsonrpc: '2.0',
        error: {
          code: -32_000,
          message: expect.any(String),
          data: expect.objectContaining({ code: 'origin_not_allowed' }),
        },
      });
    }
    const { status } = await post('not json', { origin: 'null' });
    expect(status).toBe(403);
  });

  it.each([PAGE, FRIEND])('serves pages of %s', async (origin) => {
    const { status, headers } = await post(LIST, { origin });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    const preflight = await service.api.call('OPTIONS', '/mcp', undefined, {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, mcp-protocol-version',
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/authorization/i);
  });

  it('serves its own origin', async () => {
    expect((await post(LIST, { origin: service.baseUrl })).status).toBe(200);
  });

  it.each([
    ['evil.example', 403],
    ['evil.example:3000', 403],
    ['127.0.0.1', 200],
    ['localhost:1', 200],
    ['[::1]:1', 200],
  ])('takes %s for its name or not: %i', async (host, expected) => {
    expect(await statusFor({ ...ACCEPT, host })).toBe(expected);
  });

  it('bounds the body and a batch', async () => {
    const large = { ...LIST, params: { cursor: 'x'.repeat(1024 * 1024) } };
    expect((await post(large)).body.error.code).toBe('payload_too_large');
    const batch = Array.from({ length: 51 }, (_, id) => ({ ...LIST, id }));
    expect((await post(batch)).body.error.code).toBe('too_many_items');
    const { status, text } = await post([LIST, { ...LIST, id: 2 }]);
    expect(status).toBe(200);
    expect(text.match(/"generate_image"/g)).toHaveLength(2);
  });

  it('opens no stream of changes', async () => {
    const { body } = await modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    expect(body.error).toBeDefined();
  });
});

describe('a client of a revision of 2025', () => {
  const call = (name: string, given: unknown, headers: object = {}) =>
    post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }, headers);
  const resultOf = (text: string) => JSON.parse(text.replace(/^[^]*?^data: /m, '')).result;

  it.each([
    ['*/*', 'text/event-stream'],
    ['application/json', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['application/json, text/event-stream', 'text/event-stream'],
  ])('that accepts %s gets %s', async (accept, type) => {
    const { status, headers, text } = await post(LIST, { accept });
    expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
    expect(resultOf(text).tools).toHaveLength(9);
  });

  it('gets an answer without Accept, the answers of a batch as JSON, and 406 for a type that is neither', async () => {
    expect(await statusFor({})).toBe(200);
    const { body } = await post([LIST, { ...LIST, id: 2 }], { accept: 'application/json' });
    expect(body.map(({ id }: Rpc) => id)).toEqual([1, 2]);
    expect((await post(LIST, { accept: 'text/html' })).status).toBe(406);
  });

  it('may send null for what it leaves out', async () => {
    for (const message of [
      { ...LIST, params: null },
      { ...LIST, params: { cursor: null, _meta: null } },
    ])
      expect(resultOf((await post(message)).text).tools).toHaveLength(9);
    expect(resultOf((await call('list_models', null)).text)).toMatchObject({ structuredContent: { object: 'list' } });
    const nothing = { model: null, n: null, reference_images: null, wait_s: null, preview: null };
    const made = resultOf((await call('generate_image', { prompt: 'With nulls', ...nothing })).text);
    expect(made).toMatchObject({ structuredContent: { status: 'succeeded', model: 'gpt-image-2' } });
    const missing = resultOf((await call('generate_image', { prompt: null })).text);
    expect(missing.content[0].text).toContain('missing_required_parameter');
  });

  it.each([
    [undefined, false],
    ['2024-11-05', false],
    ['2025-03-26', false],
    ['2025-06-18', true],
    ['2025-11-25', true],
  ])('gets links as blocks where its revision %s has them: %s', async (revision, expected) => {
    const header = revision === undefined ? {} : { 'mcp-protocol-version': revision };
    const { content } = resultOf((await call('generate_image', { prompt: 'A link' }, header)).text);
    expect(content.some(({ type }: { type: string }) => type === 'resource_link')).toBe(expected);
    expect(content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('/v1/files/') });
  });
});

describe('the tasks extension', () => {
  const TAKES = { [TASKS]: {} };
  const video = { prompt: 'A wave', duration: 1, resolution: '720P' };
  const get = (taskId: string) => modern('tasks/get', { taskId }, TAKES);
  const call = (name: string, given: object, extensions: object = TAKES) =>
    modern('tools/call', { name, arguments: given }, extensions);

  it('answers a video with a handle at once, and its result with tasks/get', async () => {
    const { body } = await call('generate_video', { ...video, prompt: 'A wave #delay:1' });
    const handle = body.result;
    expect(handle).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^task_/),
      status: 'working',
      statusMessage: expect.any(String),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      ttlMs: expect.any(Number),
      pollIntervalMs: 5_000,
    });
    await service.api.untilFinal(handle.taskId);
    const { body: done } = await get(handle.taskId);
    expect(done.result).toMatchObject({ resultType: 'complete', status: 'completed', taskId: handle.taskId });
    expect(done.result.result.structuredContent).toMatchObject({ task_id: handle.taskId, status: 'succeeded' });
    expect(done.result.result.content.map(({ type }: { type: string }) => type)).toContain('resource_link');
    const { body: task } = await service.api.get(`/v1/tasks/${handle.taskId}`);
    const endsAt = new Date(handle.createdAt).getTime() + handle.ttlMs;
    expect(Math.abs(endsAt / 1000 - (task.expires_at as number))).toBeLessThan(2);
    await service.api.call('PUT', `/v1/tasks/${handle.taskId}/keep`);
    expect((await get(handle.taskId)).body.result.ttlMs).toBe(null);
  });

  it('answers an image that is quick with its result', async () => {
    const { body } = await call('generate_image', { prompt: 'A quick one' });
    expect(body.result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'succeeded' } });
  });

  it('answers with a handle nobody who has not asked for it', async () => {
    const { body } = await call('generate_video', { ...video, wait_s: 0 }, {});
    expect(body.result).toMatchObject({ resultType: 'complete', structuredContent: { object: 'task' } });
  });

  it('cancels, and shows a failure as a completed call with an error', async () => {
    const { body: hanging } = await call('generate_video', { ...video, prompt: '#hang' });
    const { taskId } = hanging.result;
    expect((await get(taskId)).body.result.status).toBe('working');
    expect((await modern('tasks/update', { taskId, inputResponses: {} }, TAKES)).body.result).toBeDefined();
    expect((await modern('tasks/cancel', { taskId }, TAKES)).body.result).toMatchObject({ resultType: 'complete' });
    expect((await get(taskId)).body.result.status).toBe('cancelled');

    const { body: failing } = await call('generate_video', { ...video, prompt: '#fail:content_policy_violation' });
    const id = failing.result.taskId ?? failing.result.structuredContent.task_id;
    await service.api.untilFinal(id);
    expect((await get(id)).body.result).toMatchObject({
      status: 'completed',
      result: { isError: true, structuredContent: { error: { code: 'content_policy_violation' } } },
    });
  });

  it('knows no task of another key', async () => {
    const { body } = await get('task_01jd8e5t9kf3qs7m2v4xw6yzab');
    expect(body.error).toMatchObject({ code: -32_602, data: { code: 'task_not_found' } });
  });
});
