import { startOwnService } from '../support/service.ts';
import { Api } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';

describe('GET /v1/about', () => {
  it('tells every key what the service is, as GraphQL does, and nobody else', async () => {
    const service = await startOwnService({
      FILE_RETENTION_DAYS: '2.5',
      WEBHOOK_RETRY_SCHEDULE: '1,2',
      FILE_URL_TTL_S: '77',
    });
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
    await service.close();
  });
});
