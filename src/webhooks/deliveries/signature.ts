import { Webhook } from 'standardwebhooks';
import { unixSeconds } from '../../platform/schema/time.ts';

/**
 * The headers of one attempt (Standard Webhooks 1.0).
 * @param secrets `whsec_…`, the current one first; a receiver that has one of them accepts the request
 */
export function signedHeaders(
  eventId: string,
  body: string,
  secrets: readonly string[],
  at: Date = new Date(),
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': String(unixSeconds(at)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(eventId, at, body)).join(' '),
  };
}
