import { Client } from 'pg';
import { type TestService, joinService, startOwnService } from '../../support/service.ts';
import { aFailure, Api } from '../../support/clients/api.ts';
import { type DeliveryBody, WebhookClient } from '../../support/clients/webhook-client.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { eventually } from '../../support/wait.ts';

describe('a delivery that cannot be signed', () => {
  let service: TestService;
  let receiver: Receiver;
  beforeAll(async () => {
    service = await startOwnService({ WEBHOOK_RETRY_SCHEDULE: '600', WEBHOOK_TIMEOUT_MS: '500', TASK_SWEEP_S: '0.5' });
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    await receiver.stop();
    await service.close();
  });

  it('is a failed attempt of its schedule', async () => {
    const { body } = await service.api.call<{ id: string }>('POST', '/v1/webhook_endpoints', { url: receiver.url });
    await makeSecretUnreadable(service, body.id);
    await service.api.create(aFailure, { prefer: 'wait=20' });
    const attempts = async () => {
      const path = `/v1/webhook_endpoints/${body.id}/deliveries`;
      const { data } = (await service.api.get<{ data: DeliveryBody[] }>(path)).body;
      return data.length > 0 && data;
    };
    const [first, ...others] = await eventually('an attempt', attempts);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ attempt: 1, error: 'connect_failed' });
    // Before, the dispatch became due at once, without an end.
    expect(first!.next_attempt_at! - first!.attempted_at).toBeGreaterThanOrEqual(600);
    expect(receiver.received).toEqual([]);
  });
});

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
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `update webhook_endpoints set secret = decode(repeat('00', octet_length(secret)), 'hex') where id = $1`,
    [endpointId],
  );
  await client.end();
}
