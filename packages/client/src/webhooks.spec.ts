import { Webhook } from 'standardwebhooks';
import { WebhookVerificationError } from './errors.ts';
import { verifyWebhook } from './webhooks.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const BODY = JSON.stringify({ id: 'evt_1', object: 'event', type: 'task.completed', data: { task_id: 'täsk' } });

const headersOf = (secrets: string[], at: Date = new Date(), body: string = BODY) => ({
  'Webhook-Id': 'evt_1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign('evt_1', at, body)).join(' '),
});
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

describe('verifyWebhook', () => {
  it.each([
    ['text', BODY],
    ['bytes', new TextEncoder().encode(BODY)],
    ['a buffer', Buffer.from(BODY)],
    ['an ArrayBuffer', new TextEncoder().encode(BODY).buffer],
  ])('reads a signed event from %s', async (_, body) => {
    expect(await verifyWebhook(body, headersOf([SECRET]), SECRET)).toEqual(JSON.parse(BODY));
  });

  it('takes the headers of fetch', async () => {
    expect((await verifyWebhook(BODY, new Headers(headersOf([SECRET])), SECRET)).id).toBe('evt_1');
  });

  it('takes one of several signatures by one of several secrets', async () => {
    await expect(verifyWebhook(BODY, headersOf([OTHER, SECRET]), SECRET)).resolves.toBeDefined();
    await expect(verifyWebhook(BODY, headersOf([SECRET]), [OTHER, SECRET])).resolves.toBeDefined();
  });

  it('looks past a signature that is not base64', async () => {
    const headers = headersOf([SECRET]);
    const several = { ...headers, 'webhook-signature': `v1,§ ${headers['webhook-signature']}` };
    await expect(verifyWebhook(BODY, several, SECRET)).resolves.toBeDefined();
  });

  it('refuses a secret that is not base64', async () => {
    await expect(verifyWebhook(BODY, headersOf([SECRET]), 'whsec_§')).rejects.toThrow('A secret is not base64.');
  });

  it.each([
    ['a foreign secret', BODY, headersOf([OTHER]), {}],
    ['another body', `${BODY} `, headersOf([SECRET]), {}],
    ['another id', BODY, { ...headersOf([SECRET]), 'Webhook-Id': 'evt_2' }, {}],
    ['an old event', BODY, headersOf([SECRET], ago(301)), {}],
    ['an event of the future', BODY, headersOf([SECRET], ago(-600)), {}],
    ['a tighter tolerance', BODY, headersOf([SECRET], ago(60)), { toleranceS: 30 }],
    ['no signature', BODY, { ...headersOf([SECRET]), 'webhook-signature': undefined }, {}],
    ['a signature that is none', BODY, { ...headersOf([SECRET]), 'webhook-signature': 'v1,§ v2,abc nonsense' }, {}],
    ['a timestamp that is none', BODY, { ...headersOf([SECRET]), 'webhook-timestamp': 'now' }, {}],
  ])('refuses %s', async (_, body, headers, options) => {
    await expect(verifyWebhook(body, headers, SECRET, options)).rejects.toThrow(WebhookVerificationError);
  });

  it('takes an old event within the tolerance given', async () => {
    await expect(
      verifyWebhook(BODY, headersOf([SECRET], ago(600)), SECRET, { toleranceS: 700 }),
    ).resolves.toBeDefined();
  });
});
