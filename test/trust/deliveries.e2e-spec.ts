import { Client } from 'pg';
import { startApp, type TestApp } from '../support/app.ts';
import { aFailure } from '../support/clients/api.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { eventually } from '../support/wait.ts';

interface Delivery {
  attempt: number;
  error: string | null;
  attempted_at: number;
  next_attempt_at: number | null;
  response_snippet: string | null;
}

describe('a delivery that cannot be signed', () => {
  let service: TestApp;
  let receiver: Receiver;
  beforeAll(async () => {
    service = await startApp({ WEBHOOK_RETRY_SCHEDULE: '600', WEBHOOK_TIMEOUT_MS: '500', TASK_SWEEP_S: '0.5' });
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
      const { data } = (await service.api.get<{ data: Delivery[] }>(path)).body;
      return data.length > 0 && data;
    };
    const [first, ...others] = await eventually('an attempt', attempts, 30_000);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ attempt: 1, error: 'connect_failed' });
    // Before, the dispatch became due at once, without an end.
    expect(first!.next_attempt_at! - first!.attempted_at).toBeGreaterThanOrEqual(600);
    expect(receiver.received).toEqual([]);
  }, 60_000);
});

/** As after a restore into an installation with another SECRET_KEY. */
async function makeSecretUnreadable({ database }: TestApp, endpointId: string): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `update webhook_endpoints set secret = decode(repeat('00', octet_length(secret)), 'hex') where id = $1`,
    [endpointId],
  );
  await client.end();
}
