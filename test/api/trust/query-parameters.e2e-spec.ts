import { readFileSync } from 'node:fs';
import { Api, type ErrorBody } from '../../support/clients/api.ts';
import { type SharedService, joinService } from '../../support/service.ts';

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
