import OpenAI from 'openai';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { aFailure, aCat, aHang } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { type Received, Receiver, verified } from '../support/servers/receiver.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { jest } from '@jest/globals';
import { listen } from '../../src/cli/client/forward-events.ts';
import { eventually } from '../support/wait.ts';

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

describe('darkroom listen', () => {
  let service: SharedService;
  let laptop: Receiver;
  let address: string;
  let output: string[];
  let interrupted: AbortController;
  let listening: Promise<void>;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());
  beforeEach(async () => {
    laptop = await Receiver.start();
    address = laptop.url;
    interrupted = new AbortController();
    output = [];
    for (const stream of ['log', 'error'] as const) {
      jest.spyOn(console, stream).mockImplementation((line) => void output.push(String(line)));
    }
  });
  afterEach(async () => {
    interrupted.abort();
    await listening.catch(() => undefined);
    jest.restoreAllMocks();
    await laptop.stop();
  });

  const run = (more: object = {}) => {
    const options = { url: service.baseUrl, key: service.api.key ?? undefined, forwardTo: address, ...more };
    return (listening = listen(options, interrupted.signal));
  };
  const started = () =>
    eventually('the stream to open', async () => output.some((line) => line.startsWith('Listening')));
  const secretShown = () => /whsec_\S+/.exec(output.join('\n'))?.[0] as string;

  it('forwards only final states, with the body that the service would send, signed with the secret that it prints', async () => {
    const real = await Receiver.start();
    await new WebhookClient(service.api).endpoint(real.url);
    void run();
    await started();
    const { body: hanging } = await service.api.create(aHang);
    await service.api.create({ ...aFailure, metadata: { order: '7' } });
    const [[mine], [theirs]] = [await laptop.until(1), await real.until(1)];
    const event = verified(mine, secretShown());
    expect(event).toMatchObject({ object: 'event', type: 'task.failed', id: expect.stringMatching(/^evt_/) });
    expect(event.data).toEqual(theirs.event.data);
    expect(Object.keys(event)).toEqual(Object.keys(theirs.event));
    await service.api.cancel(hanging.task_id);
    await laptop.until(2);
    await eventually(
      'a line for each',
      async () => output.filter((line) => line.startsWith('task.failed')).length === 2,
    );
    expect(output.at(-1)).toMatch(/^task\.failed {2}evt_\S+ {2}task_\S+ {2}200 {2}\d+ ms$/);
    await real.stop();
  });

  it('forwards only the requested events, and reports a receiver that it cannot reach', async () => {
    void run({ events: ['task.completed'], secret: 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz' });
    await started();
    expect(secretShown()).toBe('whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz');
    await service.api.create(aFailure, { prefer: 'wait=30' });
    await service.api.create(aCat, { prefer: 'wait=30' });
    await laptop.until(1);
    interrupted.abort();
    await listening;
    expect(laptop.received.map(({ event }) => event.type)).toEqual(['task.completed']);

    interrupted = new AbortController();
    await laptop.stop();
    output.length = 0;
    void run();
    await started();
    await service.api.create(aFailure);
    await eventually('a line', async () => output.some((line) => line.includes('connect_failed')));
    laptop = await Receiver.start();
  });

  it('ends with the message of the service when the key is refused', async () => {
    await expect(run({ key: `dr_${'x'.repeat(46)}` })).rejects.toMatchObject({ code: 'invalid_api_key' });
    await expect(run({ key: undefined })).rejects.toThrow(/DARKROOM_API_KEY/);
    await expect(run({ forwardTo: 'localhost:3000' })).rejects.toThrow(/--forward-to/);
    await expect(run({ events: ['task.started'] })).rejects.toThrow(/task.completed and task.failed/);
  });
});
