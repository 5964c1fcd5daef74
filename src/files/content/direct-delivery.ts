import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Storage } from '../../platform/storage/storage.ts';
import type { FileContent } from './file-contents.ts';

/** Longest lifetime of a presigned link of the bucket. */
const LINK_S = 300;
/** Links that are signed within this time are the same, so that browsers and caches know a file again. */
const SIGNED_EVERY_S = LINK_S / 4;
/** A redirect from a cache leaves at least this time for the request to the bucket. */
const START_WITHIN_S = 60;

/** A link of the bucket. */
export interface DirectLink {
  url: string;
  /** How long the redirect to it may be kept, in seconds. */
  maxAgeS: number;
}

/** Lets clients read files from the bucket themselves, if FILE_DELIVERY says so. */
@Injectable()
export class DirectDelivery {
  constructor(
    private readonly config: Config,
    private readonly storage: Storage,
  ) {}

  /** @returns null where this service sends the bytes */
  async linkTo(file: FileContent, disposition: string, nowMs = Date.now()): Promise<DirectLink | null> {
    if (this.config.fileDelivery !== 'redirect') return null;
    const nowS = nowMs / 1000;
    const signedS = Math.floor(nowS / SIGNED_EVERY_S) * SIGNED_EVERY_S;
    // It does not outlive its file.
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
