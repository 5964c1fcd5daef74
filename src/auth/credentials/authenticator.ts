import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { Batch } from '../../platform/database/batch.ts';
import { Sql } from '../../platform/database/sql.ts';
import { isWellFormed } from './api-key-format.ts';
import { limitsInForce, ownLimits } from '../limits/api-key-limits.ts';
import { bearerTokenOf, type Credential, SessionToken } from './credential.ts';
import type { Caller } from '../access/caller.ts';
import { KeyHashes } from './key-hashes.ts';
import { LastUse } from './last-use.ts';
import { isToken, tokenHashOf } from './random-token.ts';
import { findByHashes, type FoundApiKey, type FoundByHash } from './sql/find-by-hashes.ts';
import { findBySessions, type FoundSession } from './sql/find-by-sessions.ts';
import { Tally } from '../../platform/observe/measuring/declare.ts';

/**
 * Every process must refuse a revoked key within 5 s. Results are cached for at most 4.5 s, which leaves 500 ms for
 * requests in flight.
 */
const MAX_TTL_MS = 4500;
const KEY_LENGTH = 49;

/** Identifies the caller by the API key of a request, or by its session. */
@Injectable()
export class Authenticator {
  private readonly keys: KeyChecks<FoundByHash>;
  private readonly sessions: KeyChecks<FoundSession>;

  constructor(
    private readonly config: Config,
    private readonly hashes: KeyHashes,
    private readonly lastUse: LastUse,
    sql: Sql,
  ) {
    const ttlMs = Math.min(config.apiKeyCacheTtlS * 1000, MAX_TTL_MS);
    // Look-ups of different keys in the same turn of the event loop share one statement. The concurrency is unlimited,
    // so one slow statement does not delay the look-ups of later requests.
    const batch = { name: 'auth.lookups', maxItems: 1000, concurrency: Infinity };
    const keys = new Batch<readonly Buffer[], FoundByHash | null>((wanted) => findByHashes(sql, wanted), batch);
    const sessions = new Batch<Buffer, FoundSession | null>((hashes) => findBySessions(sql, hashes), {
      ...batch,
      name: 'auth.session_lookups',
    });
    this.keys = new KeyChecks({
      ttlMs,
      assertWellFormed: (key) => assertForm(isWellFormed(key), 'invalid_api_key'),
      find: (key) => this.findKey(keys, key),
      unknown: 'invalid_api_key',
      toCaller: (found) => this.toCaller(found),
    });
    this.sessions = new KeyChecks({
      ttlMs,
      assertWellFormed: (token) => assertForm(isToken(token), 'session_expired'),
      find: (token) => sessions.add(tokenHashOf(token)),
      unknown: 'session_expired',
      toCaller: (found) => this.toSessionCaller(found),
    });
  }

  /**
   * The caller of an `Authorization` header or of a session.
   * @throws ApiError session_expired, and those of `authenticateHeader`
   */
  authenticateCredential(credential: Credential): Promise<Caller> | Caller {
    return credential instanceof SessionToken
      ? this.sessions.callerOf(credential.token)
      : this.authenticateHeader(credential);
  }

  /**
   * The caller of an `Authorization` header, `Bearer <API_KEY>`.
   * @throws ApiError missing_api_key, and those of `authenticate`
   */
  authenticateHeader(header: string | undefined): Promise<Caller> | Caller {
    return this.authenticate(bearerTokenOf(header));
  }

  /**
   * The caller of an API key. Synchronous while a cached result is valid.
   * @throws ApiError invalid_api_key, api_key_revoked, api_key_expired
   */
  authenticate(key: string): Promise<Caller> | Caller {
    assertForm(key.length === KEY_LENGTH, 'invalid_api_key');
    return this.keys.callerOf(key);
  }

  /** Removes keys and their sessions from the cache: their next use queries the database. */
  forget(apiKeyIds: Iterable<string>): void {
    const forgotten = new Set<string | null>(apiKeyIds);
    this.keys.forget(forgotten);
    this.sessions.forget(forgotten);
  }

  private async findKey(keys: Batch<readonly Buffer[], FoundByHash | null>, key: string): Promise<FoundByHash | null> {
    const hashes = this.hashes.of(key);
    const found = await keys.add(hashes);
    if (found) this.hashes.noteUse(found, hashes);
    return found;
  }

  private toSessionCaller(found: FoundSession): Caller {
    if (found.lastSeenStale) this.lastUse.noteSession(found.sessionId);
    return Object.freeze({ ...this.toCaller(found), sessionId: found.sessionId });
  }

  private toCaller(found: FoundApiKey): Caller {
    if (found.lastUseStale) this.lastUse.note(found.id);
    const bounds = found.bounds.filter(({ limits }) => Object.keys(limits).length > 0);
    const models = [found, ...found.bounds].flatMap((key) => (key.models ? [key.models] : []));
    return Object.freeze({
      apiKeyId: found.id,
      scopes: Object.freeze(found.scopes),
      limits: Object.freeze(limitsInForce(found.limits, this.config)),
      hasBudget: [found, ...bounds].some(({ limits }) => limits.budget !== undefined),
      ...(bounds.length > 0 && {
        bounds: bounds.map(({ apiKeyId, limits }) => ({
          apiKeyId,
          limits: ownLimits(limits),
          hasBudget: limits.budget !== undefined,
        })),
      }),
      ...(models.length > 0 && { models }),
    });
  }
}

function assertForm(holds: boolean, code: 'invalid_api_key' | 'session_expired'): void {
  if (!holds) throw new ApiError(code);
}

const lookups = new Tally(
  'darkroom_auth_lookups_total',
  'API keys that were checked: from memory, or found, unknown or refused (revoked, expired) in the database.',
  ['result'],
  (result) => ({ result }),
);

export function keyChecked(result: 'cached' | 'found' | 'unknown' | 'refused'): void {
  lookups.add(result);
}

type Refusal = 'invalid_api_key' | 'api_key_revoked' | 'api_key_expired' | 'session_expired';

interface KeyCheck {
  caller: Caller | null;
  refusal: Refusal | null;
  apiKeyId: string | null;
  /** Milliseconds on the monotonic clock. From this time on the database must be queried again. */
  goodUntil: number;
}

/** With `max` instead of `maxSize`, each cache would allocate 0.2 MB when it is created. */
const CAPACITY = { maxSize: 10_000, sizeCalculation: () => 1 };

/** How secrets of one kind, API keys or tokens of sessions, are checked. */
interface CheckedSecret<Found extends FoundApiKey> {
  /** Milliseconds for which a result is cached. */
  ttlMs: number;
  /** Throws if the text cannot be a secret of this kind. Called only when the cache does not have the secret. */
  assertWellFormed: (secret: string) => void;
  find: (secret: string) => Promise<Found | null>;
  /** The refusal of a secret that the database does not know. */
  unknown: Refusal;
  toCaller: (found: Found) => Caller;
}

/** Checks secrets of one kind in the database, and caches the results. */
class KeyChecks<Found extends FoundApiKey> {
  // Refused keys have a separate cache, so that a flood of unknown keys cannot evict the valid ones.
  private readonly accepted = new LRUCache<string, KeyCheck>(CAPACITY);
  private readonly refused = new LRUCache<string, KeyCheck>(CAPACITY);
  private readonly inFlight = new Map<string, Promise<KeyCheck>>();
  /** Rises with every `forget`. The result of a look-up that was in flight at a `forget` is not cached. */
  private cacheVersion = 0;

  constructor(private readonly kind: CheckedSecret<Found>) {}

  /** Synchronous while a cached result is valid. @throws ApiError for a malformed, unknown or refused secret */
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
   * Removes the secrets of these API keys from both caches, in one pass for all keys. The pass also drops stale
   * entries. Otherwise 10,000 unknown keys, which cost an attacker nothing, would lengthen every pass.
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
