import { hash } from 'node:crypto';
import { ApiError } from '../../errors/api-error.ts';
import { canonicalJson } from '../../platform/schema/canonical-json.ts';

const PRINTABLE_ASCII = /^[\x20-\x7e]{1,255}$/;

/** An idempotency key, and the hash by which two requests count as the same. */
export interface ReservedKey {
  key: string;
  /** SHA-256 of the request, hex. */
  requestHash: string;
}

/**
 * Reads the key. The bare form (`abc`) and the quoted one (`"abc"`, a structured field string) are the same key.
 * @throws ApiError invalid_idempotency_key
 */
export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  const given = header.trim();
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(given) ?? [];
  const key = quoted === undefined ? given : quoted.replace(/\\(["\\])/g, '$1');
  if (!PRINTABLE_ASCII.test(key)) throw new ApiError('invalid_idempotency_key', { param: 'Idempotency-Key' });
  return key;
}

/** SHA-256 in hex of the body's canonical JSON, so that key order and white space make no difference. */
export function requestHash(body: unknown): string {
  return hash('sha256', canonicalJson(body), 'hex');
}
