import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, Raw, Repository } from 'typeorm';
import { isAhead, isPast } from '../../platform/database/past.ts';
import { typeidUnboxed } from 'typeid-js';
import { ApiError } from '../../errors/api-error.ts';
import { Secrets } from '../../platform/config/secrets.ts';
import { DAY_S, HOUR_S } from '../../platform/schema/time.ts';
import { typeIdTest } from '../../platform/schema/type-id.ts';
import { ApiKeySecret } from '../api-keys/api-key-secret.entity.ts';
import { hashesOf } from '../credentials/key-hashes.ts';
import { Authenticator } from '../credentials/authenticator.ts';
import type { Caller } from '../access/caller.ts';
import { SessionToken } from '../credentials/credential.ts';
import { OneTimeCodes } from './one-time-codes.ts';
import { newToken, tokenHashOf } from '../credentials/random-token.ts';
import { Session } from '../credentials/session.entity.ts';

/**
 * How long a session may be without a request before it ends. REMEMBERED_IDLE_S is for a browser that stays signed in.
 */
export const IDLE_S = 12 * HOUR_S;
export const REMEMBERED_IDLE_S = 30 * DAY_S;
/**
 * The maximum number of sessions of one API key. A further session ends the session that was unused for the longest
 * time.
 */
export const MAX_SESSIONS = 100;
const MAX_USER_AGENT = 200;

const isSessionId = typeIdTest('sess');

/** What a browser signs in with. */
export type SignIn = { apiKey: string } | { code: string };

export interface Browser {
  /** Whether the browser stays signed in after it was closed. */
  remember: boolean;
  userAgent: string;
  /** Whether the page came over https. */
  isSecure: boolean;
  /** The session that the browser had until now, perhaps of another key. */
  replaces?: { id: string; apiKeyId: string } | undefined;
}

export interface OpenedSession {
  token: string;
  caller: Caller;
  session: Session;
}

/** Browsers that are signed in. A session may do what its API key may, and ends with the secret that it belongs to. */
@Injectable()
export class SessionsService {
  private readonly logger = new Logger('auth');

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly authenticator: Authenticator,
    private readonly codes: OneTimeCodes,
    private readonly secrets: Secrets,
  ) {}

  /**
   * @throws ApiError invalid_sign_in_code, and those of `Authenticator.authenticate`
   */
  async open(by: SignIn, { remember, userAgent, isSecure, replaces }: Browser): Promise<OpenedSession> {
    const hashes = await this.hashesOf(by);
    const token = newToken();
    const idleS = remember ? REMEMBERED_IDLE_S : IDLE_S;
    const id = typeidUnboxed('sess');
    const session = await this.sessions.manager.transaction(async (tx) => {
      // The row is locked, because another process may renew the hash at this moment.
      const lock = { mode: 'for_key_share' } as const;
      const secret = await tx.findOne(ApiKeySecret, { where: { hash: In(hashes) }, lock });
      if (!secret) throw new ApiError('code' in by ? 'invalid_sign_in_code' : 'invalid_api_key');
      if (replaces !== undefined) await tx.delete(Session, { id: replaces.id });
      await tx.insert(Session, {
        id,
        token_hash: tokenHashOf(token),
        secret_hash: secret.hash,
        api_key_id: secret.api_key_id,
        user_agent: userAgent.slice(0, MAX_USER_AGENT),
        idle_s: idleS,
        expires_at: () => `now() + ${idleS} * interval '1 second'`,
      });
      await this.endSurplus(tx, secret.api_key_id);
      return tx.findOneByOrFail(Session, { id });
    });
    if (replaces !== undefined) this.authenticator.forget([replaces.apiKeyId]);
    // Also checks the key: it may have been revoked since the code was printed.
    const caller = await this.authenticator.authenticateCredential(new SessionToken(token, isSecure));
    this.logger.log({ event: 'session.opened', session_id: id, api_key_id: session.api_key_id });
    return { token, caller, session };
  }

  /**
   * @throws ApiError session_not_found when the caller has sent its key instead of a session, or when the session has
   *   ended
   */
  async current(caller: Caller): Promise<Session> {
    const id = caller.sessionId;
    const session = id === undefined ? null : await this.sessions.findOneBy({ id });
    if (!session) throw new ApiError('session_not_found');
    return session;
  }

  /**
   * The browsers that are signed in with the caller's key, the most recently used first, at most 100. Sessions whose
   * secret has expired are left out.
   */
  list({ apiKeyId }: Caller): Promise<Session[]> {
    return this.sessions.find({
      where: {
        api_key_id: apiKeyId,
        expires_at: isAhead(),
        secret_hash: Raw(
          (column) => `${column} in (select hash from api_key_secrets where expires_at is null or expires_at > now())`,
        ),
      },
      order: { last_seen_at: 'desc', id: 'desc' },
      take: MAX_SESSIONS,
    });
  }

  /**
   * Ends a session of the caller's key: in this process at once, in all others within 5 s.
   * @throws ApiError session_not_found
   */
  async end(id: string, { apiKeyId }: Caller): Promise<void> {
    const { affected } = isSessionId(id) ? await this.sessions.delete({ id, api_key_id: apiKeyId }) : { affected: 0 };
    if (affected === 0) throw new ApiError('session_not_found');
    this.authenticator.forget([apiKeyId]);
    this.logger.log({ event: 'session.ended', session_id: id, api_key_id: apiKeyId });
  }

  /** @returns how many were deleted */
  async purge(): Promise<number> {
    const { affected } = await this.sessions.delete({ expires_at: isPast() });
    return affected ?? 0;
  }

  private async hashesOf(by: SignIn): Promise<readonly Buffer[]> {
    if ('code' in by) return [await this.codes.spend(by.code)];
    await this.authenticator.authenticate(by.apiKey);
    return hashesOf(by.apiKey, this.secrets);
  }

  private async endSurplus(tx: EntityManager, apiKeyId: string): Promise<void> {
    const surplus = await tx.find(Session, {
      select: { id: true },
      where: { api_key_id: apiKeyId },
      order: { last_seen_at: 'desc', id: 'desc' },
      skip: MAX_SESSIONS,
    });
    if (surplus.length > 0)
      await tx.delete(
        Session,
        surplus.map(({ id }) => id),
      );
  }
}
