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
import type { Caller } from './caller.ts';
import { findByHashes, type FoundApiKey } from './sql/find-by-hashes.ts';
import { hashOf } from './api-keys/key-hash.ts';
import { LastUse } from './last-use.ts';

type Refusal = 'invalid_api_key' | 'api_key_revoked' | 'api_key_expired';

interface Answer {
  caller: Caller | null;
  refusal: Refusal | null;
  apiKeyId: string | null;
  /** On the monotonic clock, milliseconds; ask the database again from then on. */
  goodUntil: number;
}

/** A revoked key is refused everywhere within 5 s (contract 6), what is under way in that moment included. */
const MAX_TTL_MS = 4500;
const CACHE_CAPACITY = 10_000;
const KEY_LENGTH = 49;

/** Tells who asks, from the key they send. */
@Injectable()
export class Authenticator {
  readonly #ttlMs: number;
  // Refusals have a cache of their own: a flood of unknown keys must not push the real ones out.
  readonly #accepted = new LRUCache<string, Answer>({ max: CACHE_CAPACITY });
  readonly #refused = new LRUCache<string, Answer>({ max: CACHE_CAPACITY });
  readonly #underWay = new Map<string, Promise<Answer>>();
  readonly #lookups: Batch<Buffer, FoundApiKey | null>;
  /** Counts what was forgotten, so that a look-up already under way then is not remembered. */
  #forgotten = 0;

  constructor(
    private readonly config: Config,
    private readonly secrets: Secrets,
    private readonly lastUse: LastUse,
    sql: Sql,
  ) {
    this.#ttlMs = Math.min(config.apiKeyCacheTtlS * 1000, MAX_TTL_MS);
    // Unlimited concurrency: one slow statement must not delay the look-ups of later requests.
    this.#lookups = new Batch((hashes) => findByHashes(sql, hashes), { maxItems: 1000, concurrency: Infinity });
  }

  /**
   * The caller behind an `Authorization` header, `Bearer <API_KEY>`. Long-lived sockets ask again, at most every few
   * seconds, for as long as they stay open.
   * @throws ApiError missing_api_key, and those of `authenticate`
   */
  authenticateHeader(header: string | undefined): Promise<Caller> | Caller {
    const token = header === undefined ? null : /^Bearer +([^ ].*)$/i.exec(header);
    if (!token) throw new ApiError('missing_api_key');
    return this.authenticate(token[1]!);
  }

  /**
   * The caller behind an API key; answered at once while the answer is at most 5 s old.
   * @throws ApiError invalid_api_key, api_key_revoked, api_key_expired
   */
  authenticate(key: string): Promise<Caller> | Caller {
    if (key.length !== KEY_LENGTH) throw new ApiError('invalid_api_key');
    // The cache knows keys by a digest, so that a memory dump holds no more keys than the requests under way.
    const digest = hash('sha256', key, 'base64');
    const known = this.#accepted.get(digest) ?? this.#refused.get(digest);
    if (known && performance.now() < known.goodUntil) return callerOf(known);
    if (!isWellFormed(key)) throw new ApiError('invalid_api_key');
    return this.#ask(key, digest).then(callerOf);
  }

  /** Drops what is remembered of a key: its next use asks the database. */
  forget(apiKeyId: string): void {
    this.#forgotten++;
    this.#underWay.clear();
    for (const cache of [this.#accepted, this.#refused]) {
      for (const [digest, answer] of cache) if (answer.apiKeyId === apiKeyId) cache.delete(digest);
    }
  }

  /** Requests with one key share one look-up; those of different keys in the same turn share one statement. */
  #ask(key: string, digest: string): Promise<Answer> {
    let asking = this.#underWay.get(digest);
    if (!asking) {
      asking = this.#lookUp(key, digest).finally(() => {
        if (this.#underWay.get(digest) === asking) this.#underWay.delete(digest);
      });
      this.#underWay.set(digest, asking);
    }
    return asking;
  }

  async #lookUp(key: string, digest: string): Promise<Answer> {
    const askedAt = performance.now();
    const forgotten = this.#forgotten;
    const answer = this.#judge(await this.#lookups.add(hashOf(key, this.secrets)), askedAt);
    if (forgotten !== this.#forgotten) return answer;
    this.#accepted.delete(digest);
    this.#refused.delete(digest);
    (answer.caller ? this.#accepted : this.#refused).set(digest, answer);
    return answer;
  }

  #judge(found: FoundApiKey | null, askedAt: number): Answer {
    const goodUntil = askedAt + this.#ttlMs;
    const refuse = (refusal: Refusal) => ({ caller: null, refusal, apiKeyId: found?.id ?? null, goodUntil });
    if (!found) return refuse('invalid_api_key');
    if (found.revoked) return refuse('api_key_revoked');
    if (found.validMs !== null && found.validMs <= 0) return refuse('api_key_expired');

    if (found.lastUseStale) this.lastUse.note(found.id);
    const caller = Object.freeze({
      apiKeyId: found.id,
      scopes: Object.freeze(found.scopes),
      limits: Object.freeze(limitsInForce(found.limits, this.config)),
    });
    return {
      caller,
      refusal: null,
      apiKeyId: found.id,
      goodUntil: Math.min(goodUntil, askedAt + (found.validMs ?? Infinity)),
    };
  }
}

function callerOf(answer: Answer): Caller {
  if (!answer.caller) throw new ApiError(answer.refusal!);
  return answer.caller;
}
