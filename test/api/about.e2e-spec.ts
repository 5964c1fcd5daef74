// Own settings: those that the service tells, and no dashboard.
import { type OwnService, startOwnService } from '../support/service.ts';
import { Api } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService({
    FILE_RETENTION_DAYS: '2.5',
    WEBHOOK_RETRY_SCHEDULE: '1,2',
    FILE_URL_TTL_S: '77',
    DASHBOARD: 'off',
  });
});
afterAll(() => service.close());

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
      graphiql: true,
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
      graphiql: true,
    });
    expect((await new Api(service.baseUrl, null).get('/v1/about')).status).toBe(401);
  });
});

it('the dashboard can be switched off', async () => {
  for (const path of ['/', '/app', '/app/']) {
    const reply = await service.api.get<{ error: { code: string } }>(path, { accept: 'text/html' });
    expect([path, reply.status, reply.body.error.code]).toEqual([path, 404, 'route_not_found']);
  }
});
