import { Injectable } from '@nestjs/common';
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Config } from '../../platform/config/config.ts';
import { each, type NewestFirst, Secrets } from '../../platform/config/secrets.ts';
import { TYPE_ID_SUFFIX } from '../../platform/schema/type-id.ts';

/** The id of the share without its prefix, and 256 bits of signature. */
const TOKEN = new RegExp(`^(${TYPE_ID_SUFFIX})([\\w-]{43})$`);

/**
 * Signs and verifies the addresses of shares. An address contains no expiry. The row of the share says when the share
 * ends, and may be deleted earlier.
 */
@Injectable()
export class ShareLinks {
  /** The newest secret signs, every secret verifies. */
  private readonly secrets: NewestFirst<KeyObject>;

  constructor(
    secrets: Secrets,
    private readonly config: Config,
  ) {
    this.secrets = each(secrets.deriveAll('share-links'), (secret) => createSecretKey(secret));
  }

  urlOf(id: string): string {
    const signature = signatureOf(this.secrets[0], id).toString('base64url');
    return `${this.config.publicUrl}/s/${id.slice('share_'.length)}${signature}`;
  }

  /** @returns the id of the share; null if the token is malformed, or not signed by this service */
  verify(token: string): string | null {
    const [, suffix, signature] = TOKEN.exec(token) ?? [];
    if (suffix === undefined || signature === undefined) return null;
    const given = Buffer.from(signature, 'base64url');
    if (given.toString('base64url') !== signature) return null; // another last letter may stand for the same bytes
    const id = `share_${suffix}`;
    return this.secrets.some((secret) => timingSafeEqual(given, signatureOf(secret, id))) ? id : null;
  }
}

const signatureOf = (secret: KeyObject, id: string): Buffer => createHmac('sha256', secret).update(id).digest();
