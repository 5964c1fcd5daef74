import { readFileSync } from 'node:fs';
import { joinService, type SharedService } from '../support/service.ts';

const root = new URL('../../', import.meta.url).pathname;
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };

describe('the clients that the service brings', () => {
  let service: SharedService;
  beforeAll(async () => void (service = await joinService()));
  afterAll(() => service.close());

  it.each([
    ['/client.tgz', 'application/gzip'],
    [`/python/darkroom_client-${version}-py3-none-any.whl`, 'application/zip'],
  ])('%s is served to anybody, as it was built', async (path, type) => {
    const response = await fetch(service.baseUrl + path);
    expect(response.headers.get('content-type')).toBe(type);
    // The next build may have the same version.
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(Buffer.from(await response.arrayBuffer()).equals(readFileSync(`${root}dist${path}`))).toBe(true);
  });

  it('a wheel of another version is not there', async () => {
    const response = await fetch(`${service.baseUrl}/python/darkroom_client-0.0.1-py3-none-any.whl`);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      'route_not_found',
    ]);
  });
});
