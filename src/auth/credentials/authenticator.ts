import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { Batch } from '../../platform/database/batch.ts';
import { Sql } from '../../platform/database/sql.ts';
import { isWellFormed } from './api-key-format.ts';
import { limitsInForce } from '../limits/api-key-limits.ts';
import { bearerTokenOf } from './bearer-token.ts';
import type { Caller } from '../access/caller.ts';
import { type Credential, SessionToken } from './credential.ts';
import { KeyHashes } from './key-hashes.ts';
import { KeyChecks } from './key-checks.ts';
import { LastUse } from './last-use.ts';
import { isToken, tokenHashOf } from './random-token.ts';
import { findByHashes, type FoundApiKey, type FoundByHash } from './sql/find-by-hashes.ts';
import { findBySessions, type FoundSession } from './sql/find-by-sessions.ts';

/** Every process refuses a revoked key within 5 s. The remaining 500 ms cover requests in flight at that moment. */
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
    // Look-ups of different keys in the same turn share one statement. Unlimited concurrency: one slow statement must not
    // delay the look-ups of later requests.
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
    return Object.freeze({
      apiKeyId: found.id,
      scopes: Object.freeze(found.scopes),
      limits: Object.freeze(limitsInForce(found.limits, this.config)),
      hasBudget: found.limits.budget !== undefined,
    });
  }
}

function assertForm(holds: boolean, code: 'invalid_api_key' | 'session_expired'): void {
  if (!holds) throw new ApiError(code);
}
