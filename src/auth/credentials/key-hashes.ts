import { createHmac } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Sql } from '../../platform/database/sql.ts';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';
import { NewestKey } from '../../platform/database/secret-keys/newest-key.ts';
import { each, type NewestFirst, Secrets } from '../../platform/config/secrets.ts';
import { type RenewedHash, renewHashes } from './sql/renew-hashes.ts';

const FLUSH_DELAY_MS = 1000;
/**
 * Milliseconds until the next try, if not all processes have the same newest SECRET_KEY yet, or the database is
 * unavailable.
 */
const RETRY_DELAY_MS = 10_000;
/** The maximum number of hashes that one statement replaces. */
const BATCH = 500;
/**
 * The maximum number of uses noted in memory. A further use is ignored. A later use of the same key can be noted
 * instead.
 */
const MAX_PENDING = 10_000;

interface StoredHash {
  hash: Buffer;
  /** The id of the SECRET_KEY that made the hash; null: unknown. */
  secretKeyId: string | null;
}

/**
 * The stored forms of API keys. A form that an older SECRET_KEY made is replaced when its key is used, because only
 * then is the key itself known. Writes in batches, and delays no request.
 */
@Injectable()
export class KeyHashes implements BeforeApplicationShutdown {
  private readonly logger = new Logger('auth');
  private readonly pending = new Map<string, RenewedHash>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly sql: Sql,
    private readonly secrets: Secrets,
    private readonly newestKey: NewestKey,
  ) {}

  /** Every form in which the key may be stored, see `hashesOf`. */
  of(key: string): NewestFirst<Buffer> {
    return hashesOf(key, this.secrets);
  }

  /**
   * Call it when a key was used, with the form in which the key was found and with all its forms. If an older
   * SECRET_KEY made the found form, that form is replaced soon.
   */
  noteUse({ hash, secretKeyId }: StoredHash, [newest]: NewestFirst<Buffer>): void {
    if (secretKeyId === this.secrets.keyId || this.pending.size >= MAX_PENDING) return;
    this.pending.set(hash.toString('base64'), { from: hash, to: newest });
    this.flushIn(FLUSH_DELAY_MS);
  }

  beforeApplicationShutdown(): void {
    if (this.timer) clearTimeout(this.timer);
    this.pending.clear();
  }

  /** Never throws. */
  private async flush(): Promise<void> {
    this.timer = null;
    if (!this.newestKey.isAgreed) return this.flushIn(RETRY_DELAY_MS);
    const batch = [...this.pending].slice(0, BATCH);
    try {
      await renewHashes(
        this.sql,
        batch.map(([, renewed]) => renewed),
        this.secrets.keyId,
      );
      for (const [from] of batch) this.pending.delete(from);
      if (this.pending.size > 0) this.flushIn(0);
    } catch (err) {
      this.logger.warn({ event: 'key.renewal_failed', count: batch.length, err });
      this.flushIn(RETRY_DELAY_MS);
    }
  }

  private flushIn(delayMs: number): void {
    this.timer ??= outsideOfRequests(() => setTimeout(() => void this.flush(), delayMs).unref());
  }
}

/**
 * The stored form of an API key: HMAC-SHA256 with the newest pepper. A fast hash is enough for a key of at least 226
 * random bits.
 */
export const hashOf = (key: string, secrets: Secrets): Buffer => hashWith(secrets.derive('api-key-pepper'), key);

/** Every form in which the key may be stored, one for each SECRET_KEY. */
export const hashesOf = (key: string, secrets: Secrets): NewestFirst<Buffer> =>
  each(secrets.deriveAll('api-key-pepper'), (pepper) => hashWith(pepper, key));

const hashWith = (pepper: Buffer, key: string): Buffer => createHmac('sha256', pepper).update(key).digest();
