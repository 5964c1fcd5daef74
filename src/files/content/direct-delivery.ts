import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Storage } from '../../platform/storage/storage.ts';
import type { FileContent } from './file-contents.ts';

/** The longest lifetime of a presigned link of the bucket. */
const LINK_S = 300;
/**
 * Seconds of one period of signing. All links to a file that are signed in one period are equal, so browsers and caches
 * recognise the file.
 */
const SIGNED_EVERY_S = LINK_S / 4;
/**
 * When a cached redirect expires, its link is still valid for this time, so that a client can start the request to the
 * bucket.
 */
const START_WITHIN_S = 60;

export interface DirectLink {
  url: string;
  /** Seconds for which the redirect to the link may be cached. */
  maxAgeS: number;
}

/** Lets clients read files from the bucket itself, if FILE_DELIVERY is `redirect`. */
@Injectable()
export class DirectDelivery {
  constructor(
    private readonly config: Config,
    private readonly storage: Storage,
  ) {}

  /** @returns null when this service sends the bytes itself */
  async linkTo(file: FileContent, disposition: string, nowMs = Date.now()): Promise<DirectLink | null> {
    if (this.config.fileDelivery !== 'redirect') return null;
    const nowS = nowMs / 1000;
    const signedS = Math.floor(nowS / SIGNED_EVERY_S) * SIGNED_EVERY_S;
    // The link expires no later than the file.
    const endsS = Math.min(signedS + LINK_S, Math.ceil(file.expiresAt.getTime() / 1000));
    const url = await this.storage.signGet(file.storageKey, {
      contentType: file.contentType,
      disposition,
      signedAt: new Date(signedS * 1000),
      lifetimeS: endsS - signedS,
    });
    return url === null ? null : { url, maxAgeS: Math.max(0, Math.floor(endsS - nowS) - START_WITHIN_S) };
  }
}
