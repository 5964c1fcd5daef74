import OpenAI from 'openai';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { aFailure } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { type Received, Receiver } from '../support/servers/receiver.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

type Verify = (received: Received, secret: string) => unknown;
type Headers = Record<string, string>;

/** Each client verifies the request as its documentation says. */
const CLIENTS: [string, Verify][] = [
  ['standardwebhooks', ({ body, headers }, secret) => new StandardWebhook(secret).verify(body, headers as Headers)],
  [
    'svix',
    ({ body, headers }, secret) => {
      new SvixWebhook(secret).verify(body, headers as Headers); // throws if invalid
      return JSON.parse(body) as unknown;
    },
  ],
  [
    'openai',
    ({ body, headers }, secret) => new OpenAI({ apiKey: 'none' }).webhooks.unwrap(body, headers as Headers, secret),
  ],
];

describe.each(CLIENTS)('the npm client %s', (_name, verify) => {
  let service: SharedService;
  let receiver: Receiver;
  beforeAll(async () => {
    service = await joinService();
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    await service.close();
    await receiver.stop();
  });

  it('verifies unchanged body and headers, also during a rotation, and refuses another secret', async () => {
    const hooks = new WebhookClient(service.api);
    const { id, secret } = await hooks.endpoint(receiver.url);
    await service.api.create({ ...aFailure, metadata: { title: 'Ω ✓ 漢 🙂' } });
    const [first] = await receiver.until(1);
    expect(await verify(first, secret)).toEqual(first.event);
    expect(first.event).toMatchObject({ type: 'task.failed', data: { metadata: { title: 'Ω ✓ 漢 🙂' } } });

    const next = (await hooks.rotate(id, { keep_old_secret_for_hours: 1 })).body.secret as string;
    await service.api.create(aFailure);
    const [, second] = await receiver.until(2);
    for (const known of [secret, next]) expect(await verify(second, known)).toEqual(second.event);
    const refused = async () => await verify(first, next);
    await expect(refused()).rejects.toThrow();
    await expect((async () => await verify({ ...second, body: `${second.body} ` }, next))()).rejects.toThrow();
  });
});
