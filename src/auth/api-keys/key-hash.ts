import { createHmac } from 'node:crypto';
import type { Secrets } from '../../platform/secrets.ts';

/** How an API key is stored: HMAC-SHA256 with the server's pepper. A plain fast hash is enough for 238 random bits. */
export function hashOf(key: string, secrets: Secrets): Buffer {
  return createHmac('sha256', secrets.derive('api-key-pepper')).update(key).digest();
}
