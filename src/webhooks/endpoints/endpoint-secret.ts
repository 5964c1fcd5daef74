import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { NewestFirst } from '../../platform/config/secrets.ts';

const PREFIX = 'whsec_';
/** 192 bits, the minimum of Standard Webhooks. Base64 of 24 bytes needs no padding. */
const SECRET_BYTES = 24;
const HINT_CHARS = 4;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A new signing secret in the form that receivers use. */
export const newEndpointSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** `…` and the last characters of a secret, to recognise it. */
export const secretHint = (secret: string): string => `…${secret.slice(-HINT_CHARS)}`;

/**
 * Seals a secret for the database: nonce, tag, ciphertext (AES-256-GCM).
 * @param key 32 bytes, used for this purpose only
 * @param endpointId authenticated together with the secret, so that a copy of the sealed secret in the row of another
 *   endpoint cannot be opened
 */
export function seal(secret: string, key: Buffer, endpointId: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(endpointId));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/**
 * Opens a sealed secret.
 * @param keys the keys to try, in this order
 * @throws Error when the secret was sealed with another key or for another endpoint, or was modified since
 */
export function unseal(sealed: Buffer, [key, ...others]: NewestFirst<Buffer>, endpointId: string): string {
  try {
    return unsealWith(key, sealed, endpointId);
  } catch (error) {
    const [next, ...rest] = others;
    if (!next) throw error;
    return unseal(sealed, [next, ...rest], endpointId);
  }
}

function unsealWith(key: Buffer, sealed: Buffer, endpointId: string): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(endpointId)).setAuthTag(tag);
  return decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}
