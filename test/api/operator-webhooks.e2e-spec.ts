import { type OwnService, startOwnService } from '../support/service.ts';
import { aFailure } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { Api } from '../support/clients/api.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

interface Webhooks {
  endpoints: Record<string, number>;
  dispatches: Record<string, number>;
  oldest_due_s: number | null;
  attempts: { outcome: string; error: string | null; count: number }[];
  troubled: { id: string; host: string; undelivered: number; last_status_code: number; last_error: string }[];
}

describe('the webhooks of all keys', () => {
  let service: OwnService;
  let receiver: Receiver;
  beforeAll(async () => {
    service = await startOwnService({ WEBHOOK_RETRY_SCHEDULE: '3600' });
    receiver = await Receiver.start((received, response) => {
      response.writeHead(received.path === '/fine' ? 200 : 500).end();
    });
  });
  afterAll(async () => {
    await service.close();
    await receiver.stop();
  });

  const webhooks = async () => (await service.api.get<Webhooks>('/v1/operations/webhooks')).body;

  it('show who fails, what waits, and how the attempts went', async () => {
    const { key, id: keyId } = await anotherKey(service.api);
    const owner = new Api(service.baseUrl, key);
    const create = (api: Api, url: string) => api.call<{ id: string }>('POST', '/v1/webhook_endpoints', { url });
    await create(service.api, new URL('/fine', receiver.url).href);
    const { body: broken } = await create(owner, new URL('/broken?token=hidden', receiver.url).href);
    expect((await webhooks()).endpoints).toEqual({ enabled: 2, failing: 0, disabled: 0 });
    for (const api of [service.api, owner]) await api.create(aFailure, { prefer: 'wait=30' });

    const seen = await eventually('the failing endpoint', async () => {
      const now = await webhooks();
      return now.troubled.length > 0 && now;
    });
    expect(seen).toMatchObject({
      object: 'operator_webhooks',
      endpoints: { enabled: 1, failing: 1, disabled: 0 },
      dispatches: { due: 0, waiting: 1, under_way: 0 },
      oldest_due_s: null,
      troubled: [
        {
          id: broken.id,
          api_key_id: keyId,
          host: new URL(receiver.url).host,
          status: 'enabled',
          disabled_reason: null,
          undelivered: 1,
          last_status_code: 500,
          last_error: 'http_status',
        },
      ],
    });
    expect(JSON.stringify(seen)).not.toContain('hidden');
    const counted = await eventually(
      'the attempts',
      async () => {
        const { attempts } = await webhooks();
        return attempts.length >= 2 && attempts;
      },
      20_000,
    );
    expect(counted.map(({ error, count }) => [error, count]).toSorted()).toEqual(
      [
        [null, 1],
        ['http_status', 1],
      ].toSorted(),
    );

    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const { data } = await graphql.ask<{ operations: { webhooks: object } }>(
      '{ operations { webhooks { endpoints { failing } troubled { id lastError undelivered } attempts { outcome error count } } } }',
    );
    expect(data.operations.webhooks).toEqual({
      endpoints: { failing: 1 },
      troubled: [{ id: broken.id, lastError: 'HTTP_STATUS', undelivered: 1 }],
      attempts: counted,
    });
  });
});
