import { createHmac } from 'node:crypto';
import { each, type NewestFirst, type Secrets } from '../../platform/config/secrets.ts';

/** The stored form of an API key: HMAC-SHA256 with the newest pepper. A fast hash is enough for 238 random bits. */
export const hashOf = (key: string, secrets: Secrets): Buffer => hashWith(secrets.derive('api-key-pepper'), key);

/** Every form in which the key may be stored, one for each SECRET_KEY. */
export const hashesOf = (key: string, secrets: Secrets): NewestFirst<Buffer> =>
  each(secrets.deriveAll('api-key-pepper'), (pepper) => hashWith(pepper, key));

const hashWith = (pepper: Buffer, key: string): Buffer => createHmac('sha256', pepper).update(key).digest();
