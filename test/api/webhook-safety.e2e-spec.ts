// Own settings: one allowed address, and a DNS server of the test.
import { type ErrorBody } from '../support/clients/api.ts';
import { attackUrls } from '../support/hostile/attack-list.ts';
import { Canary } from '../support/hostile/canary.ts';
import { DnsServer } from '../support/servers/dns-server.ts';
import { type DeliveryBody, type EndpointBody, WebhookClient } from '../support/clients/webhook-client.ts';
import { type OwnService, startOwnService } from '../support/service.ts';

/** The only allowed address; it represents the public internet. */
const PUBLIC = '127.0.0.3';

let service: OwnService;
let hooks: WebhookClient;
let canary: Canary;
let dns: DnsServer;

beforeAll(async () => {
  canary = await Canary.start();
  let asked = 0;
  dns = await DnsServer.start({
    'loopback.test': { A: ['127.0.0.1'] },
    'mixed.test': { A: [PUBLIC, '127.0.0.1'] },
    'metadata.test': { A: ['169.254.169.254'] },
    'mapped.test': { AAAA: ['::ffff:127.0.0.1'] },
    'cname.test': { CNAME: 'localhost' },
    'rebinding.test': { A: () => [asked++ % 2 === 0 ? PUBLIC : '127.0.0.1'] },
  });
  service = await startOwnService({
    OUTBOUND_ALLOW_CIDRS: `${PUBLIC}/32`,
    WEBHOOK_RETRY_SCHEDULE: '3600',
    NODE_OPTIONS: `--import=${new URL('../support/faults/use-dns-server.mjs', import.meta.url).href}`,
    TEST_DNS_SERVER: dns.address,
  });
  hooks = new WebhookClient(service.api);
});
afterAll(async () => {
  await service.close();
  await dns.stop();
  await canary.stop();
});

/** Registers an endpoint, sends a test event, and removes the endpoint. @returns the refusal, or the attempt */
async function attack(url: string): Promise<{ refused: ErrorBody['error'] } | { attempt: DeliveryBody; text: string }> {
  const { status, body } = await hooks.register<EndpointBody & ErrorBody>({ url });
  if (status !== 201) return { refused: body.error };
  await hooks.test(body.id);
  const [attempt] = await hooks.ended(body.id, 1);
  const { text } = await service.api.get(`/v1/webhook_endpoints/${body.id}/deliveries`);
  await hooks.remove(body.id);
  return { attempt, text };
}

it('never reaches the canary on any address of this machine, with the whole attack list', async () => {
  const outcomes: ({ url: string } & Awaited<ReturnType<typeof attack>>)[] = [];
  const left = attackUrls(canary.port);
  expect(left.length).toBeGreaterThan(150);
  const worker = async () => {
    for (let url = left.pop(); url !== undefined; url = left.pop()) outcomes.push({ url, ...(await attack(url)) });
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  for (const outcome of outcomes) {
    if ('refused' in outcome) {
      expect([outcome.refused.code, outcome.refused.param]).toEqual([
        expect.stringMatching(/^(invalid_url|url_not_allowed|invalid_unicode)$/),
        'url',
      ]);
    } else {
      expect(outcome.attempt.error).toMatch(/^(blocked_address|dns_failure)$/);
      expect(outcome.attempt).toMatchObject({ status_code: null, response_snippet: null });
    }
  }
  expect(outcomes.filter((outcome) => 'refused' in outcome).length).toBeGreaterThan(100);
  expect(canary).toMatchObject({ connections: 0, bytes: 0 });
});

it.each(['loopback', 'mixed', 'metadata', 'mapped', 'cname', 'unknown'])(
  'checks the name %s.test at the attempt, and shows only the error class',
  async (name) => {
    canary.connections = 0;
    const outcome = await attack(`http://${name}.test:${canary.port}/secret`);
    if ('refused' in outcome) throw new Error('A name must be checked at the attempt, not at registration.');
    const error = /cname|unknown/.test(name) ? 'dns_failure' : 'blocked_address';
    expect(outcome.attempt).toMatchObject({ error, status_code: null, response_snippet: null });
    expect(outcome.text).not.toMatch(/127\.0|169\.254|ffff/);
    expect(canary.connections).toBe(0);
  },
);

it('resolves the name again for each attempt, so a rebound name is refused', async () => {
  canary.connections = 0;
  const errors = [];
  for (let nth = 0; nth < 4; nth++) {
    const outcome = await attack(`http://rebinding.test:${canary.port}/`);
    errors.push('refused' in outcome ? outcome.refused.code : outcome.attempt.error);
  }
  expect(errors).toEqual([null, 'blocked_address', null, 'blocked_address']);
  expect(canary.connections).toBe(2); // at the allowed address
});
