import { execFileSync, spawnSync } from 'node:child_process';
import { aFailure, aHang, Api, type ErrorBody } from '../../support/clients/api.ts';
import { type SharedService, joinService } from '../../support/service.ts';
import { testEnv } from '../../support/test-env.ts';
import { cloneDatabase } from '../../support/database.ts';
import { spawnService } from '../../support/process.ts';
import { eventually } from '../../support/wait.ts';
import { readFileSync } from 'node:fs';

const BROKEN = '{"model": '.padEnd(1_000_000, ' ');
/** Debian: `apt-get install --no-install-recommends prometheus`. */
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

describe('the edge', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  it('checks the shape and checksum of the key before it parses a body', async () => {
    const stranger = new Api(service.baseUrl, null);
    for (const [headers, code] of [
      [{}, 'missing_api_key'],
      [{ authorization: 'Bearer nonsense' }, 'invalid_api_key'],
      [{ authorization: `Bearer dr_${'a'.repeat(46)}` }, 'invalid_api_key'],
    ] as const) {
      const {
        status,
        body,
        headers: answered,
      } = await stranger.call<ErrorBody>('POST', '/v1/generations', BROKEN, headers);
      expect([status, body.error.code]).toEqual([401, code]);
      expect(answered.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('names times past 2038 in GraphQL', async () => {
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
      name: 'k',
      expires_at: 4_102_444_800,
    });
    const late = new Api(service.baseUrl, body.key);
    const ask = (query: string, variables = {}) => late.call<object>('POST', '/graphql', { query, variables });
    const tasks = 'tasks(filter: { createdBefore: 4102444800 }) { edges { cursor } }';
    expect((await ask(`{ viewer { expiresAt } ${tasks} }`)).body).toEqual({
      data: { viewer: { expiresAt: 4_102_444_800 }, tasks: { edges: [] } },
    });
    const query = 'query ($at: Long) { tasks(filter: { createdAfter: $at }) { edges { cursor } } }';
    expect((await ask(query, { at: 4_102_444_800 })).body).toMatchObject({ data: { tasks: { edges: [] } } });
    for (const [at, code] of [
      ['1', 'invalid_type'],
      [1.5, 'invalid_type'],
      [2 ** 60, 'value_out_of_range'],
    ] as const) {
      expect((await ask(query, { at })).body).toMatchObject({ errors: [{ extensions: { code } }] });
    }
  });

  it('serves metrics that promtool accepts', async () => {
    const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
    const gauges = [...text.matchAll(/^# TYPE (\w+) gauge$/gm)].map(([, name]) => name as string);
    expect(gauges).toContain('nodejs_active_handles');
    expect(gauges.filter((name) => /_(total|count|sum|bucket)$/.test(name))).toEqual([]);
    if (hasPromtool) execFileSync('promtool', ['check', 'metrics'], { input: text });
  });

  it('bounds the open waits of one key, and answers at once past them', async () => {
    const { body } = await service.api.create(aHang);
    await service.api.until(body.task_id, 'running');
    let answered = 0;
    const waits = Array.from({ length: 260 }, async () => {
      const { status } = await service.api.get(`/v1/tasks/${body.task_id}?wait=60`);
      answered += 1;
      return status;
    });
    await eventually('60 answers', async () => answered >= 60);
    expect((await service.api.get(`/v1/tasks/${body.task_id}?wait=60`)).body).toMatchObject({ status: 'running' });
    expect(answered).toBe(60);
    await service.api.cancel(body.task_id);
    expect(await Promise.all(waits)).toEqual(waits.map(() => 200));
  });
});

it('logs the lines of a task under the request id of its own creation', async () => {
  const database = await cloneDatabase();
  const { env } = await testEnv(database.url, { LOG_LEVEL: 'info' });
  const running = await spawnService(env);
  try {
    const tasks = await Promise.all(
      Array.from({ length: 20 }, (_, at) => running.api.create(aFailure, { 'x-request-id': `creation-${at}` })),
    );
    for (const { body } of tasks) await running.api.untilFinal(body.task_id);
    const failures = () =>
      running
        .output()
        .split('\n')
        .filter((line) => line.includes('task.run_failed'));
    await eventually('the log lines', async () => failures().length === tasks.length);
    const requestIds = new Map(
      failures()
        .map((line) => JSON.parse(line) as { task_id: string; request_id?: string })
        .map(({ task_id, request_id }) => [task_id, request_id]),
    );
    expect(tasks.map(({ body }) => requestIds.get(body.task_id))).toEqual(tasks.map((_, at) => `creation-${at}`));
  } finally {
    await running.kill('SIGTERM');
    await database.drop();
  }
});

const openApi = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, { security?: unknown[] }>>;
};
/** Their clients add parameters of their own: OpenAI's (`api-version`), and whatever passes a file's link on. */
const IGNORES_UNKNOWN = /^\/v1\/(?:images|videos)(?:\/|$)|^\/v1\/files\/\{id\}\/(?:content|preview)$/;
/** Every operation that needs a key and refuses what it does not know. */
const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { security }]) => security?.length !== 0 && !IGNORES_UNKNOWN.test(path))
    .map(([method]) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'unknown')] as const),
);

describe('an unknown query parameter', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  it.each(operations)('of %s %s is refused', async (method, path) => {
    const hasBody = ['POST', 'PATCH'].includes(method) ? {} : undefined;
    const { status, body } = await service.api.call<ErrorBody>(method, `${path}?foo=1`, hasBody);
    expect(status).toBe(400);
    if (method !== 'HEAD') expect(body.error).toMatchObject({ code: 'unknown_parameter', param: 'foo' });
  });

  it('is reported after a missing key and a missing scope', async () => {
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
      name: 'k',
      scopes: ['tasks:read'],
    });
    for (const [api, code] of [
      [new Api(service.baseUrl, null), 'missing_api_key'],
      [new Api(service.baseUrl, body.key), 'insufficient_scope'],
    ] as const) {
      expect((await api.create<ErrorBody>({}, {})).body.error.code).toBe(code);
      expect((await api.call<ErrorBody>('POST', '/v1/generations?foo=1', {})).body.error.code).toBe(code);
    }
  });

  it('is ignored by probes, pages and signed links, whose URLs others extend', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs']) {
      expect([path, (await service.api.get(`${path}?utm_source=x`)).status]).toEqual([path, 200]);
    }
    const { body } = await service.api.create({ model: 'gpt-image-2', prompt: 'A signed cat' }, { prefer: 'wait=30' });
    const [file] = body.result!.outputs;
    expect((await fetch(`${file!.url}&utm_source=x`)).status).toBe(200);
  });
});
