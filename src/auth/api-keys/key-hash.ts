import { createHmac } from 'node:crypto';
import type { Secrets } from '../../platform/secrets.ts';

/** The stored form of an API key: HMAC-SHA256 with the server's pepper. A fast hash is enough for 238 random bits. */
export function hashOf(key: string, secrets: Secrets): Buffer {
  return createHmac('sha256', secrets.derive('api-key-pepper')).update(key).digest();
}
