import { type TestService, joinService } from '../../support/service.ts';
import { aFailure, Api } from '../../support/clients/api.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { WebhookClient } from '../../support/clients/webhook-client.ts';
import { Receiver } from '../../support/servers/receiver.ts';

describe('an endpoint of a key', () => {
  let service: TestService;
  let receiver: Receiver;
  beforeAll(async () => {
    service = await joinService();
    receiver = await Receiver.start((_received, response) => void response.writeHead(500).end('an internal page'));
  });
  afterAll(async () => {
    await receiver.stop();
    await service.close();
  });

  /** All receivers of the tests are at loopback addresses, which OUTBOUND_ALLOW_CIDRS excepts. */
  it('never shows what a server at an excepted address answered', async () => {
    const hooks = new WebhookClient(service.api);
    const { id } = await hooks.endpoint(receiver.url);
    await hooks.test(id);
    expect((await hooks.ended(id, 1))[0]).toMatchObject({
      status_code: 500,
      error: 'http_status',
      response_snippet: null,
    });
  });

  it('whose secret cannot be read has a failed attempt of the schedule', async () => {
    const hooks = new WebhookClient(service.api);
    const there = await Receiver.start();
    const { id } = await hooks.endpoint(there.url);
    await makeSecretUnreadable(service, id);
    await service.api.create(aFailure);
    const [first] = await hooks.ended(id, 1);
    expect(first).toMatchObject({ attempt: 1, error: 'connect_failed' });
    // If the dispatch became due at once, it would be attempted without an end.
    expect(first!.next_attempt_at! - first!.attempted_at).toBeGreaterThanOrEqual(5);
    expect(there.received).toEqual([]);
    await hooks.remove(id);
    await there.stop();
  });

  it('can be sent tests, redeliveries and recoveries only as often as the key may create', async () => {
    const made = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
      name: 'impatient',
      limits: { creates_per_minute: 4 },
    });
    const api = new Api(service.baseUrl, made.body.key);
    const hooks = new WebhookClient(api);
    const { id } = await hooks.endpoint(receiver.url);
    const { body, headers } = await hooks.test(id);
    expect(headers.get('ratelimit-policy')).toBe('"create";q=4;w=60');
    expect((await hooks.redeliver(body.event_id)).status).not.toBe(429);
    expect((await hooks.recover(id, 0)).status).toBe(200);
    const query = `mutation { testWebhookEndpoint(id: "${id}") { eventId } }`;
    expect((await api.call<object>('POST', '/graphql', { query })).body).toHaveProperty('data.testWebhookEndpoint');
    expect((await hooks.test(id)).status).toBe(429);
    expect((await hooks.redeliver(body.event_id)).status).toBe(429);
    expect((await hooks.recover(id, 0)).status).toBe(429);
    for (const mutation of [
      query,
      query.replace('test', 'recover').replace('")', '", since: 0)').replace('eventId', 'events'),
    ]) {
      expect((await api.call<object>('POST', '/graphql', { query: mutation })).body).toMatchObject({
        errors: [{ extensions: { code: 'rate_limit_exceeded' } }],
      });
    }
  });
});

/** As after a restore into an installation with another SECRET_KEY. */
async function makeSecretUnreadable({ database }: TestService, endpointId: string): Promise<void> {
  const spoil = `update webhook_endpoints set secret = decode(repeat('00', octet_length(secret)), 'hex') where id = $1`;
  await queryOnce(database.url, spoil, [endpointId]);
}
