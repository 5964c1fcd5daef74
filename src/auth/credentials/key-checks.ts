import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { ApiError } from '../../errors/api-error.ts';
import { keyChecked } from '../access/auth-metrics.ts';
import type { Caller } from '../access/caller.ts';
import type { FoundApiKey } from './sql/find-by-hashes.ts';

type Refusal = 'invalid_api_key' | 'api_key_revoked' | 'api_key_expired' | 'session_expired';

/** The cached result of a look-up. */
interface KeyCheck {
  caller: Caller | null;
  refusal: Refusal | null;
  apiKeyId: string | null;
  /** Milliseconds on the monotonic clock. From then on the database must be queried again. */
  goodUntil: number;
}

/** `max` would reserve 0.2 MB at once for each cache. */
const CAPACITY = { maxSize: 10_000, sizeCalculation: () => 1 };

/** How one kind of secret, an API key or the token of a session, leads to its caller. */
export interface CheckedSecret<Found extends FoundApiKey> {
  /** Milliseconds for which a result is cached. */
  ttlMs: number;
  /** Throws if this can be no such secret. Asked only when the cache does not know it. */
  assertWellFormed: (secret: string) => void;
  find: (secret: string) => Promise<Found | null>;
  /** The refusal of a secret that the database does not know. */
  unknown: Refusal;
  toCaller: (found: Found) => Caller;
}

/** Checks secrets of one kind in the database, and caches the results. */
export class KeyChecks<Found extends FoundApiKey> {
  // Refused keys have a separate cache, so that a flood of unknown keys cannot evict the valid ones.
  private readonly accepted = new LRUCache<string, KeyCheck>(CAPACITY);
  private readonly refused = new LRUCache<string, KeyCheck>(CAPACITY);
  private readonly inFlight = new Map<string, Promise<KeyCheck>>();
  /** Rises with every `forget`. A look-up that was in flight at that time is not cached. */
  private cacheVersion = 0;

  constructor(private readonly kind: CheckedSecret<Found>) {}

  /** Synchronous while the cached result is good. @throws ApiError */
  callerOf(secret: string): Promise<Caller> | Caller {
    // The cache stores a digest of the secret, so that a memory dump contains only the secrets of requests in flight.
    const digest = hash('sha256', secret, 'base64');
    const cached = this.accepted.get(digest) ?? this.refused.get(digest);
    if (cached && performance.now() < cached.goodUntil) {
      keyChecked('cached');
      return callerIn(cached);
    }
    this.kind.assertWellFormed(secret);
    return this.lookUpOnce(secret, digest).then(callerIn);
  }

  /**
   * Removes the secrets of these API keys from the cache. One pass over both caches, however many keys, which also drops the
   * stale entries. Otherwise 10,000 unknown keys, which cost an attacker nothing, would lengthen every pass.
   */
  forget(apiKeyIds: ReadonlySet<string | null>): void {
    this.cacheVersion++;
    this.inFlight.clear();
    const now = performance.now();
    for (const cache of [this.accepted, this.refused]) {
      for (const [digest, check] of cache) {
        if (apiKeyIds.has(check.apiKeyId) || now >= check.goodUntil) cache.delete(digest);
      }
    }
  }

  /** Requests with the same secret share one look-up. */
  private lookUpOnce(secret: string, digest: string): Promise<KeyCheck> {
    let lookup = this.inFlight.get(digest);
    if (!lookup) {
      lookup = this.lookUp(secret, digest).finally(() => {
        if (this.inFlight.get(digest) === lookup) this.inFlight.delete(digest);
      });
      this.inFlight.set(digest, lookup);
    }
    return lookup;
  }

  private async lookUp(secret: string, digest: string): Promise<KeyCheck> {
    const sentAt = performance.now();
    const { cacheVersion } = this;
    const check = this.check(await this.kind.find(secret), sentAt);
    keyChecked(check.caller ? 'found' : check.apiKeyId === null ? 'unknown' : 'refused');
    if (cacheVersion !== this.cacheVersion) return check;
    this.accepted.delete(digest);
    this.refused.delete(digest);
    (check.caller ? this.accepted : this.refused).set(digest, check);
    return check;
  }

  private check(found: Found | null, sentAt: number): KeyCheck {
    const goodUntil = sentAt + this.kind.ttlMs;
    const refuse = (refusal: Refusal) => ({ caller: null, refusal, apiKeyId: found?.id ?? null, goodUntil });
    if (!found) return refuse(this.kind.unknown);
    if (found.revoked) return refuse('api_key_revoked');
    if (found.validMs !== null && found.validMs <= 0) return refuse('api_key_expired');
    return {
      caller: this.kind.toCaller(found),
      refusal: null,
      apiKeyId: found.id,
      goodUntil: Math.min(goodUntil, sentAt + (found.validMs ?? Infinity)),
    };
  }
}

function callerIn(check: KeyCheck): Caller {
  if (!check.caller) throw new ApiError(check.refusal!);
  return check.caller;
}
