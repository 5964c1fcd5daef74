import { WebhookVerificationError } from './errors.ts';
import type {
  BatchCompletedEvent,
  BudgetExceededEvent,
  BudgetThresholdReachedEvent,
  TaskCompletedEvent,
  TaskFailedEvent,
  WebhookTestEvent,
} from './types.gen.ts';

/** What arrives at a webhook endpoint: `switch (event.type)` tells the events apart. */
export type DarkroomEvent =
  | TaskCompletedEvent
  | TaskFailedEvent
  | BatchCompletedEvent
  | BudgetThresholdReachedEvent
  | BudgetExceededEvent
  | WebhookTestEvent;

type HeaderSource = Headers | Record<string, string | string[] | undefined>;

const DEFAULT_TOLERANCE_S = 300;
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Verifies the signature of a webhook (Standard Webhooks).
 * @param rawBody as it arrived: parsing and writing it again may change its bytes
 * @param secrets `whsec_…`; several while one is being replaced
 * @throws WebhookVerificationError when a header is missing, a secret is not base64, no signature matches one of the
 *   secrets, or the timestamp is malformed or outside the tolerance
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeaderSource,
  secrets: string | readonly string[],
  { toleranceS = DEFAULT_TOLERANCE_S }: { toleranceS?: number } = {},
): Promise<DarkroomEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = valueOf(headers, name);
    if (!value) throw new WebhookVerificationError(`The header ${name} is missing.`);
    return value;
  }) as [string, string, string];
  if (!/^[0-9]{1,15}$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceS) {
    throw new WebhookVerificationError(`The event was signed more than ${toleranceS} s ago or ahead.`);
  }
  const body = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const bytes = fromBase64(secret.replace(/^whsec_/, ''));
    if (!bytes) throw new WebhookVerificationError('A secret is not base64.');
    const key = await crypto.subtle.importKey('raw', bytes, HMAC, false, ['verify']);
    for (const signature of signatures.split(' ')) {
      const [version, text = ''] = signature.split(',');
      const given = version === 'v1' ? fromBase64(text) : null;
      if (given && (await crypto.subtle.verify('HMAC', key, given, signed))) return JSON.parse(body) as DarkroomEvent;
    }
  }
  throw new WebhookVerificationError('No signature of the event is by one of the secrets.');
}

function valueOf(headers: HeaderSource, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const found = Object.keys(headers).find((each) => each.toLowerCase() === name);
  const value = found === undefined ? undefined : headers[found];
  return (Array.isArray(value) ? value.join(' ') : value) ?? null;
}

/** @returns null when the text is not base64 */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
