// Own settings: what an operator can turn off is off, what the service tells is no default, and OpenTelemetry cannot be loaded.
import sharp from 'sharp';
import { aCat, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { joinService, type OwnService, type SharedService, startOwnService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { expectExact, make, pixelsOf } from '../support/made.ts';

const NODE_OPTIONS = `--import=${new URL('../support/faults/without-otel.mjs', import.meta.url).href}`;

let service: OwnService;
let usual: SharedService;
beforeAll(async () => {
  [service, usual] = await Promise.all([
    startOwnService({
      NODE_OPTIONS,
      DASHBOARD: 'off',
      GRAPHQL_INTROSPECTION: 'off',
      MCP: 'off',
      OUTBOUND_ALLOW_HTTP: 'false',
      PROVENANCE: 'off',
      FILE_RETENTION_DAYS: '2.5',
      FILE_URL_TTL_S: '77',
      WEBHOOK_RETRY_SCHEDULE: '1,2',
    }),
    joinService(),
  ]);
});
afterAll(() => Promise.all([service?.close(), usual?.close()]));

it('has no MCP with MCP=off', async () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const accept = 'application/json, text/event-stream';
  const { status, body } = await service.api.call<ErrorBody>('POST', '/mcp', list, { accept });
  expect([status, body.error.code]).toEqual([404, 'route_not_found']);
});

it('refuses a webhook over http with OUTBOUND_ALLOW_HTTP=false', async () => {
  const refused = await new WebhookClient(service.api).register<ErrorBody>({ url: 'http://example.com/hook' });
  expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([400, 'url_not_allowed', 'url']);
});

it('stores the bytes of the provider with PROVENANCE=off, the same for the same request', async () => {
  const [unmarked, again] = [await make(service, aCat), await make(service, aCat)];
  expectExact(unmarked);
  expect(again.bytes.equals(unmarked.bytes)).toBe(true);
  expect((await sharp(unmarked.bytes).metadata()).xmp).toBeUndefined();
  const { bytes: marked } = await make(usual, aCat);
  expect((await pixelsOf(marked)).equals(await pixelsOf(unmarked.bytes))).toBe(true);
});

it('loads no package of OpenTelemetry but its API while traces are off', async () => {
  await make(service, aCat);
  const on = startOwnService({ NODE_OPTIONS, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  await expect(on).rejects.toThrow('must not be loaded'); // so the hook does see what is loaded
});

describe('GET /v1/about', () => {
  it('tells every key what the service is, as GraphQL does, and nobody else', async () => {
    const { body } = await service.api.get<Record<string, unknown>>('/v1/about');
    expect(body).toEqual({
      object: 'about',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      server_time: expect.any(Number),
      public_url: service.baseUrl,
      task_retention_days: 30,
      file_retention_days: 2.5,
      file_url_ttl_s: 77,
      max_upload_bytes: 20_000_000,
      webhook_schedule_s: [1, 2],
      graphiql: false,
    });
    expect(Math.abs(Number(body.server_time) - Date.now() / 1000)).toBeLessThan(60);
    const { data } = await new GraphqlClient(service.baseUrl, service.api.key).ask<{ about: object }>(
      '{ about { version publicUrl fileRetentionDays webhookScheduleS graphiql } }',
    );
    expect(data.about).toEqual({
      version: body.version,
      publicUrl: service.baseUrl,
      fileRetentionDays: 2.5,
      webhookScheduleS: [1, 2],
      graphiql: false,
    });
    expect((await usual.api.get('/v1/about')).body).toMatchObject({ graphiql: true });
    expect((await new Api(service.baseUrl, null).get('/v1/about')).status).toBe(401);
  });
});

it('has no dashboard with DASHBOARD=off', async () => {
  for (const path of ['/', '/app', '/app/']) {
    const reply = await service.api.get<{ error: { code: string } }>(path);
    expect([path, reply.status, reply.body.error.code]).toEqual([path, 404, 'route_not_found']);
    expect((await service.api.get(path, { accept: 'text/html' })).status).toBe(404);
  }
});

describe('GraphQL without introspection', () => {
  let graphql: GraphqlClient;
  beforeAll(() => void (graphql = new GraphqlClient(service.baseUrl, service.api.key)));
  afterAll(() => graphql?.close());

  it('hides the schema, suggestions and the page, over the socket too', async () => {
    const { errors } = await graphql.ask('{ __schema { types { name } } }');
    expect(errors).toHaveLength(1);
    const misspelt = await graphql.ask('{ tasc { taskId } viewr { id } }');
    expect(misspelt.errors!.map(({ message }) => message)).toEqual([
      'Cannot query field "tasc" on type "Query".',
      'Cannot query field "viewr" on type "Query".',
    ]);
    expect((await fetch(new URL('/graphiql', service.baseUrl))).status).toBe(404);

    const followed = graphql.follow('{ __schema { types { name } } }');
    await expect(followed.ended).rejects.toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('introspection has been disabled') }),
    );
    const typo = graphql.follow('{ viewr { id } }');
    await expect(typo.ended).rejects.toMatchObject([{ message: 'Cannot query field "viewr" on type "Query".' }]);
  });

  it('still answers queries', async () => {
    const { data } = await graphql.ask<{ __typename: string }>('{ __typename viewer { name } }');
    expect(data).toEqual({ __typename: 'Query', viewer: { name: 'BOOTSTRAP_API_KEY' } });
  });

  // The last test: it stops the service.
  it('closes every socket with 1001, and ends event streams, when the service stops', async () => {
    const { body } = await service.api.create(aHang);
    const closes: number[] = [];
    const followed = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const client = graphql.socket({
          on: { closed: (event) => void closes.push((event as { code: number }).code) },
        });
        const one = graphql.follow('subscription ($id: String!) { taskUpdated(taskId: $id) { status } }', { id: body.task_id }, client); // prettier-ignore
        await eventually('the first event', async () => one.events.length > 0);
        return one;
      }),
    );
    const streams = await Promise.all(
      [`/v1/tasks/${body.task_id}/events`, '/v1/events'].map((path) =>
        EventReader.open(service.baseUrl, path, service.api.key!),
      ),
    );
    await service.close();
    await Promise.allSettled(followed.map((one) => one.ended));
    expect(closes).toEqual([1001, 1001, 1001]);
    await Promise.all(streams.map(({ ended }) => ended));
  });
});
