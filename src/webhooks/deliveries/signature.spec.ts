import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { newEndpointSecret } from '../endpoints/endpoint-secret.ts';
import { signedHeaders } from './signature.ts';

const body = '{"data":"Ω ✓ 漢"}';

describe('signed headers', () => {
  it('are HMAC-SHA256 over id, seconds and body', () => {
    const secret = newEndpointSecret();
    const headers = signedHeaders('evt_1', body, [secret], new Date(1_700_000_000_999));
    const mac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64')).update(`evt_1.1700000000.${body}`);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `v1,${mac.digest('base64')}`,
    });
  });

  it('contain a signature for each secret; a receiver that has one of the secrets accepts them', () => {
    const [current, old, foreign] = [newEndpointSecret(), newEndpointSecret(), newEndpointSecret()];
    const headers = signedHeaders('evt_1', body, [current, old]);
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    for (const known of [current, old]) expect(new Webhook(known).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(foreign).verify(body, headers)).toThrow();
    expect(() => new Webhook(current).verify(`${body} `, headers)).toThrow();
  });
});
