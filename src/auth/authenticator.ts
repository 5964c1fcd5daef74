import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { ApiError } from '../errors/api-error.ts';
import { Config } from '../platform/config.ts';
import { Batch } from '../platform/database/batch.ts';
import { Sql } from '../platform/database/sql.ts';
import { Secrets } from '../platform/secrets.ts';
import { isWellFormed } from './api-keys/api-key-format.ts';
import { limitsInForce } from './api-keys/api-key-limits.ts';
import { keyChecked } from './auth-metrics.ts';
import { bearerTokenOf } from './bearer-token.ts';
import type { Caller } from './caller.ts';
import { findByHashes, type FoundApiKey } from './sql/find-by-hashes.ts';
import { hashOf } from './api-keys/key-hash.ts';
import { LastUse } from './last-use.ts';

type Refusal = 'invalid_api_key' | 'api_key_revoked' | 'api_key_expired';

/** The cached result of a look-up. */
interface KeyCheck {
  caller: Caller | null;
  refusal: Refusal | null;
  apiKeyId: string | null;
  /** Milliseconds on the monotonic clock. From then on the database must be queried again. */
  goodUntil: number;
}

/** Every process refuses a revoked key within 5 s. The remaining 500 ms cover requests in flight at that moment. */
const MAX_TTL_MS = 4500;
const CACHE_CAPACITY = 10_000;
const KEY_LENGTH = 49;

/** Identifies the caller by the API key of a request. */
@Injectable()
export class Authenticator {
  private readonly ttlMs: number;
  // Refused keys have a separate cache, so that a flood of unknown keys cannot evict the valid ones.
  private readonly accepted = new LRUCache<string, KeyCheck>({ max: CACHE_CAPACITY });
  private readonly refused = new LRUCache<string, KeyCheck>({ max: CACHE_CAPACITY });
  private readonly inFlight = new Map<string, Promise<KeyCheck>>();
  private readonly lookups: Batch<Buffer, FoundApiKey | null>;
  /** Rises with every `forget`. A look-up that was in flight at that time is not cached. */
  private cacheVersion = 0;

  constructor(
    private readonly config: Config,
    private readonly secrets: Secrets,
    private readonly lastUse: LastUse,
    sql: Sql,
  ) {
    this.ttlMs = Math.min(config.apiKeyCacheTtlS * 1000, MAX_TTL_MS);
    // Unlimited concurrency: one slow statement must not delay the look-ups of later requests.
    this.lookups = new Batch((hashes) => findByHashes(sql, hashes), {
      name: 'auth.lookups',
      maxItems: 1000,
      concurrency: Infinity,
    });
  }

  /**
   * The caller of an `Authorization` header, `Bearer <API_KEY>`. Connections that stay open are checked again every few
   * seconds.
   * @throws ApiError missing_api_key, and those of `authenticate`
   */
  authenticateHeader(header: string | undefined): Promise<Caller> | Caller {
    return this.authenticate(bearerTokenOf(header));
  }

  /**
   * The caller of an API key. Synchronous while the cached result is at most 5 s old.
   * @throws ApiError invalid_api_key, api_key_revoked, api_key_expired
   */
  authenticate(key: string): Promise<Caller> | Caller {
    if (key.length !== KEY_LENGTH) throw new ApiError('invalid_api_key');
    // The cache stores a digest of the key, so that a memory dump contains only the keys of requests in flight.
    const digest = hash('sha256', key, 'base64');
    const cached = this.accepted.get(digest) ?? this.refused.get(digest);
    if (cached && performance.now() < cached.goodUntil) {
      keyChecked('cached');
      return callerOf(cached);
    }
    if (!isWellFormed(key)) throw new ApiError('invalid_api_key');
    return this.lookUpOnce(key, digest).then(callerOf);
  }

  /**
   * Removes keys from the cache: their next use queries the database. One pass over both caches, however many keys, which also
   * drops the stale entries. Otherwise 10,000 unknown keys, which cost an attacker nothing, would lengthen every pass.
   */
  forget(apiKeyIds: Iterable<string>): void {
    this.cacheVersion++;
    this.inFlight.clear();
    const forgotten = new Set<string | null>(apiKeyIds);
    const now = performance.now();
    for (const cache of [this.accepted, this.refused]) {
      for (const [digest, check] of cache) {
        if (forgotten.has(check.apiKeyId) || now >= check.goodUntil) cache.delete(digest);
      }
    }
  }

  /** Requests with the same key share one look-up. Look-ups of different keys in the same turn share one statement. */
  private lookUpOnce(key: string, digest: string): Promise<KeyCheck> {
    let lookup = this.inFlight.get(digest);
    if (!lookup) {
      lookup = this.lookUp(key, digest).finally(() => {
        if (this.inFlight.get(digest) === lookup) this.inFlight.delete(digest);
      });
      this.inFlight.set(digest, lookup);
    }
    return lookup;
  }

  private async lookUp(key: string, digest: string): Promise<KeyCheck> {
    const sentAt = performance.now();
    const { cacheVersion } = this;
    const check = this.check(await this.lookups.add(hashOf(key, this.secrets)), sentAt);
    keyChecked(check.caller ? 'found' : check.apiKeyId === null ? 'unknown' : 'refused');
    if (cacheVersion !== this.cacheVersion) return check;
    this.accepted.delete(digest);
    this.refused.delete(digest);
    (check.caller ? this.accepted : this.refused).set(digest, check);
    return check;
  }

  private check(found: FoundApiKey | null, sentAt: number): KeyCheck {
    const goodUntil = sentAt + this.ttlMs;
    const refuse = (refusal: Refusal) => ({ caller: null, refusal, apiKeyId: found?.id ?? null, goodUntil });
    if (!found) return refuse('invalid_api_key');
    if (found.revoked) return refuse('api_key_revoked');
    if (found.validMs !== null && found.validMs <= 0) return refuse('api_key_expired');

    if (found.lastUseStale) this.lastUse.note(found.id);
    const caller = Object.freeze({
      apiKeyId: found.id,
      scopes: Object.freeze(found.scopes),
      limits: Object.freeze(limitsInForce(found.limits, this.config)),
      hasBudget: found.limits.budget !== undefined,
    });
    return {
      caller,
      refusal: null,
      apiKeyId: found.id,
      goodUntil: Math.min(goodUntil, sentAt + (found.validMs ?? Infinity)),
    };
  }
}

function callerOf(check: KeyCheck): Caller {
  if (!check.caller) throw new ApiError(check.refusal!);
  return check.caller;
}
