// Own settings: a process that only works.
import { globSync, readFileSync } from 'node:fs';
import { Body, Controller, Global, Module, Param, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiCreatedResponse } from '@nestjs/swagger';
import { ERRORS } from '../../src/errors/catalog.ts';
import { ApiField } from '../../src/platform/schema/api-field.ts';
import { HealthModule } from '../../src/health/health.module.ts';
import { Metrics } from '../../src/platform/observe/measuring/metrics.ts';
import { Readiness } from '../../src/platform/run/readiness.ts';
import { serveApiDocs } from '../../src/platform/http/api-docs.ts';
import { HEALTH_PATHS } from '../../src/platform/http/request.ts';
import { createHttpApp, type EdgeAdapter } from '../../src/platform/http/http-app.ts';
import { buildOpenApi } from '../../src/platform/openapi/build-openapi.ts';
import { joinService, startOwnService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

class ThingInput {
  @ApiField.string('its name') name: string;
}
class ThingView {
  @ApiField.string('identifier') thing_id: string;
  @ApiField.integer('unix seconds; null: never', { nullable: true }) ended_at: number | null;
}
@Controller('v1/things')
class ThingsController {
  @Post(':thing_id/rename') @ApiCreatedResponse({ type: ThingView }) rename(
    @Param('thing_id') thing_id: string,
    @Body() _input: ThingInput,
  ): ThingView {
    return { thing_id, ended_at: null };
  }
}
const needsDatabase = {
  provide: 'NEEDS_DATABASE',
  useFactory: () => {
    throw new Error('no database here');
  },
};
@Global()
@Module({ providers: [Metrics, Readiness], exports: [Metrics, Readiness] })
class MonitoringModule {}
@Module({ imports: [MonitoringModule, HealthModule], controllers: [ThingsController] })
class ThingsModule {}
@Module({
  imports: [MonitoringModule, HealthModule],
  controllers: [ThingsController],
  providers: [needsDatabase],
})
class UnstartableModule {}

const quiet = { corsOrigins: [], logLevel: 'silent' } as const;

async function start() {
  const app = await createHttpApp(ThingsModule, quiet);
  serveApiDocs(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close', ...headers } }); // a kept one delays the stop
  return { app, get };
}

describe('health', () => {
  let app: NestFastifyApplication;
  let get: Awaited<ReturnType<typeof start>>['get'];
  let database: () => Promise<unknown>;
  let asked = 0;

  beforeEach(async () => {
    ({ app, get } = await start());
    asked = 0;
    database = async () => 1;
    app.get(Readiness).register('database', () => (asked++, database()));
    app.get(Readiness).register('queue', async () => 1);
  });
  afterEach(() => app.close());

  it('is alive, and ready when everything works', async () => {
    expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' });
    const ready = await get('/readyz');
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ok', checks: { database: 'ok', queue: 'ok' } },
    ]);
  });

  it('is not ready while the database is away, names the failed check, and stays alive', async () => {
    database = () => Promise.reject(new Error('connect ECONNREFUSED postgres://me:hunter2@db/x'));
    const ready = await get('/readyz');
    const body: any = await ready.json();
    expect([ready.status, body.checks]).toEqual([503, { database: 'failed', queue: 'ok' }]);
    expect(body.error).toMatchObject({ code: 'service_unavailable', message: 'Not ready: database.' });
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(ready.headers.get('retry-after')).toMatch(/^[1-5]$/);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('of one process stays ready while the database is away', async () => {
    database = () => Promise.reject(new Error('away'));
    const ready = await get('/readyz?of=process');
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ok', checks: { process: 'ok' } }]);
    expect(asked).toBe(0);
    expect((await get('/readyz?probe=1')).status).toBe(503);
  });

  it.each(['?of=everything', '?of=', '?of=process&of=process'])('refuses %s', async (query) => {
    const refused = await get(`/readyz${query}`);
    const body: any = await refused.json();
    expect([refused.status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'of']);
  });

  it('of one process is not ready when it stops', async () => {
    app.get(Readiness).stop();
    const stopping = await get('/readyz?of=process');
    const body: any = await stopping.json();
    expect([stopping.status, body.checks]).toEqual([503, { process: 'draining' }]);
    expect(body.error.message).toBe('The service is shutting down.');
  });

  it('does not wait for a check that hangs', async () => {
    database = () => new Promise(() => undefined);
    const body: any = await (await get('/readyz')).json();
    expect(body.checks.database).toBe('timeout');
  });

  it('queries the database once for many concurrent probes', async () => {
    const answered = Promise.withResolvers<void>();
    database = () => answered.promise;
    let arrived = 0;
    app.getHttpServer().on('request', () => (arrived += 1));
    const all = Array.from({ length: 20 }, () => get('/readyz'));
    await eventually('the probes to arrive', async () => arrived === 20);
    await get('/healthz'); // so each of them has been looked at
    answered.resolve();
    await Promise.all(all);
    expect(asked).toBe(1);
  });

  it('counts requests by route pattern, never by path', async () => {
    await get('/v1/things/secret-id/rename');
    await get('/nothing/secret-id');
    await get('/healthz');
    const metrics = await get('/metrics');
    const text = await metrics.text();
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const count = 'http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_code=';
    expect(text).toContain(`\n${count}"200",http_route="/healthz"} `);
    expect(text).toContain(`\n${count}"404"} 1\n`);
    expect(text).toContain('process_cpu_user_seconds_total');
    expect(text).not.toContain('secret-id');
  });

  it('is alive but not ready while draining', async () => {
    (app.getHttpAdapter() as EdgeAdapter).edge.startDraining();
    // Without a connection, which a draining process closes while it is idle.
    const statusOf = async (url: string) => (await app.inject({ url, headers: { host: 'localhost' } })).statusCode;
    expect(await statusOf('/healthz')).toBe(200);
    expect(await statusOf('/metrics')).toBe(200);
    expect(await statusOf('/readyz')).toBe(503);
  });
});

describe('health in a whole service', () => {
  it('needs no API key and has no rate limit', async () => {
    const service = await joinService();
    const get = (path: string) => fetch(`${service.baseUrl}${path}`, { headers: { authorization: 'Bearer wrong' } });
    for (const path of Object.values(HEALTH_PATHS)) {
      const answers = [await get(path), await get(path)];
      expect([path, ...answers.map(({ status }) => status)]).toEqual([path, 200, 200]);
      expect(answers[0]!.headers.get('ratelimit')).toBeNull();
    }
    expect((await get('/v1/models')).status).toBe(401);
    expect((await get('/openapi.json')).status).toBe(200);
    await service.close();
  });

  it('is all that a process has with ROLE=worker', async () => {
    const service = await startOwnService({ ROLE: 'worker', RATE_READ_PER_MIN: '1' });
    const get = (path: string) => fetch(`${service.baseUrl}${path}`, { headers: { authorization: 'Bearer wrong' } });
    for (const path of Object.values(HEALTH_PATHS)) {
      expect([path, (await get(path)).status, (await get(path)).status]).toEqual([path, 200, 200]);
    }
    expect((await get('/v1/models')).status).toBe(404);
    expect((await get('/openapi.json')).status).toBe(404);
    await service.close();
  });
});

describe('the description of the API', () => {
  it('is OpenAPI 3.1 with the key, the error shape and every code', async () => {
    const { app, get } = await start();
    const answer = await get('/openapi.json');
    const document: any = await answer.json();
    await app.close();
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(document.openapi).toBe('3.1.0');
    expect(document.security).toEqual([{ api_key: [] }]);
    expect(document.components.securitySchemes.api_key).toMatchObject({ type: 'http', scheme: 'bearer' });
    expect(document.components.schemas.ErrorCode.enum).toEqual(Object.keys(ERRORS));
    for (const path of ['/healthz', '/readyz', '/metrics']) expect(document.paths[path].get.security).toEqual([]);
    const operation = document.paths['/v1/things/{thing_id}/rename'].post;
    expect(operation.operationId).toBe('thingsRename');
    expect(operation.responses.default).toEqual({ $ref: '#/components/responses/Error' });
    expect(document.components.schemas.Thing.properties.ended_at.type).toEqual(['integer', 'null']);
  });

  it('needs no database', async () => {
    const app = await createHttpApp(UnstartableModule, quiet, { preview: true });
    expect(Object.keys(buildOpenApi(app).paths)).toContain('/v1/things/{thing_id}/rename');
  });

  it('has a page that loads nothing from other origins', async () => {
    const { app, get } = await start();
    const kept = (path: string) => get(path, { connection: 'keep-alive' }); // fetch fails on a long body whose connection closes
    const page = await kept('/docs');
    const html = await page.text();
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link);
    const parts = await Promise.all(links.map((link) => kept(link!.startsWith('data:') ? '/docs' : `/${link}`)));
    await Promise.all(parts.map((part) => part.arrayBuffer()));
    await app.close();
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|unsafe-eval/);
    expect(html).not.toMatch(/https?:\/\//);
    expect(links).toEqual(['data:,', 'docs/scalar.js', 'docs/start.js']);
    expect(parts.slice(1).map(({ status }) => status)).toEqual([200, 200]);
    const types = parts.slice(1).map((part) => part.headers.get('content-type')!.split(';')[0]);
    expect(types).toEqual(['text/javascript', 'text/javascript']);
  });

  it('sends the program of the page compressed, or not, as the client can read it', async () => {
    const { app, get } = await start();
    const gzipped = await get('/docs/scalar.js', { 'accept-encoding': 'gzip', connection: 'keep-alive' });
    const plain = await get('/docs/scalar.js', { 'accept-encoding': 'identity', connection: 'keep-alive' });
    const sizes = await Promise.all([gzipped, plain].map(async (part) => (await part.arrayBuffer()).byteLength));
    await app.close();
    expect([gzipped, plain].map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', null]);
    expect(sizes[0]).toBe(sizes[1]); // fetch has decompressed the first
    expect(sizes[1]).toBeGreaterThan(1_000_000);
  });
});

describe('the docs for language models', () => {
  const docs = new URL('../../docs/', import.meta.url);
  const pages = globSync('{api,guides}/*.md', { cwd: docs }).toSorted();

  it('list every page of the reference and the guides, and serve it without the marks of its blocks', async () => {
    const { app, get } = await start();
    const index = await (await get('/llms.txt')).text();
    const links = [...index.matchAll(/^- \[.+\]\(\/llms\/(.+\.md)\): [A-Z`].{15,}\.$/gm)].map(([, link]) => link!);
    const full = await (await get('/llms-full.txt')).text();
    expect(links.toSorted()).toEqual(pages);
    for (const page of pages) {
      const text = readFileSync(new URL(page, docs), 'utf8').replaceAll(/^( *```\w+) [\w-]+=.*$/gm, '$1');
      const served = await get(`/llms/${page}`);
      expect(served.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      expect(await served.text()).toBe(text);
      expect(full).toContain(text.trim());
    }
    const metrics = await (await get('/metrics')).text();
    expect(metrics).toContain('http_route="/llms/*"');
    expect(metrics).not.toContain('tasks.md');
    await app.close();
  });

  it.each(['/llms/nothing.md', '/llms/..%2f..%2f..%2fpackage.json', '/docs/nothing.js'])('have no %s', async (path) => {
    const { app, get } = await start();
    const answer = await get(path);
    const body: any = await answer.json();
    await app.close();
    expect([answer.status, body.error.code]).toEqual([404, 'route_not_found']);
  });
});
