import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';
import { assertScope, lackOf } from '../access/access.ts';
import { Authenticator } from './authenticator.ts';
import { type Caller, type Scope, SCOPES } from '../access/caller.ts';
import { type Credential, SessionToken } from './credential.ts';

/**
 * When a key is revoked, or loses a scope that a connection needs, the connection must be closed within 5 s. So the
 * keys of open connections are rechecked every 2 s, bypassing the cache.
 */
const RECHECK_MS = 2_000;

/** @param refusal api_key_revoked, api_key_expired, invalid_api_key, session_expired or insufficient_scope */
type OnRefused = (refusal: ApiError) => void;

/** The open connections of one credential. */
interface WatchedKey {
  credential: Credential;
  apiKeyId: string;
  /** The scopes that each connection needs. */
  open: Map<OnRefused, readonly Scope[]>;
}

/** Permission for one connection to stay open. */
export interface Admission {
  apiKeyId: string;
  /** Call when the connection has closed. */
  release(): void;
}

/**
 * Rechecks the API keys of open sockets, event streams and long polls. All connections of one credential share one
 * check.
 */
@Injectable()
export class KeyWatch implements OnApplicationShutdown {
  private readonly logger = new Logger('auth');
  private readonly watched = new Map<string, WatchedKey>();
  private timer: NodeJS.Timeout | undefined;
  private isRechecking = false;

  constructor(private readonly authenticator: Authenticator) {}

  /**
   * @param credential the `Authorization` header, `Bearer <API_KEY>`, or a session
   * @param onRefused called once when the key has been revoked, has expired, or has lost a scope that the connection
   *   needs, or when the session has ended
   * @param scope the scope that the connection needs; if missing, all scopes that the key has now
   * @throws ApiError missing_api_key, invalid_api_key, api_key_revoked, api_key_expired, session_expired,
   *   insufficient_scope
   */
  async admit(credential: Credential, onRefused: OnRefused, scope?: Scope): Promise<Admission> {
    const caller = await this.authenticator.authenticateCredential(credential);
    if (scope) assertScope(caller, scope);
    const name = nameOf(credential);
    const { apiKeyId } = caller;
    const key = this.watched.get(name) ?? { credential, apiKeyId, open: new Map() };
    this.watched.set(name, key);
    key.open.set(onRefused, scope ? [scope] : caller.scopes);
    this.timer ??= outsideOfRequests(() => setInterval(() => void this.recheckAll(), RECHECK_MS).unref());
    return {
      apiKeyId,
      release: () => {
        key.open.delete(onRefused);
        if (key.open.size === 0 && this.watched.get(name) === key) this.watched.delete(name);
      },
    };
  }

  /**
   * Runs the work of a request that waits, such as a long poll. Throws the refusal if the key is refused meanwhile.
   * @param work must stop waiting when the signal aborts; its result is discarded then
   * @param scope as for `admit`
   * @throws ApiError those of `admit`, at once or after `work`; and whatever `work` throws
   */
  async whileAdmitted<Result>(
    authorization: string | undefined,
    work: (refused: AbortSignal) => Promise<Result>,
    scope?: Scope,
  ): Promise<Result> {
    const refused = new AbortController();
    const { release } = await this.admit(authorization, (refusal) => refused.abort(refusal), scope);
    try {
      const result = await work(refused.signal);
      refused.signal.throwIfAborted();
      return result;
    } finally {
      release();
    }
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Checks all keys concurrently, so that their look-ups become one statement. */
  private async recheckAll(): Promise<void> {
    if (this.isRechecking || this.watched.size === 0) return;
    this.isRechecking = true;
    try {
      this.authenticator.forget([...this.watched.values()].map(({ apiKeyId }) => apiKeyId));
      await Promise.all([...this.watched].map(([name, key]) => this.recheck(name, key)));
    } catch (error) {
      this.logger.error({ event: 'key.recheck_failed', err: error });
    } finally {
      this.isRechecking = false;
    }
  }

  private async recheck(name: string, key: WatchedKey): Promise<void> {
    try {
      this.closeWithoutScope(key, await this.authenticator.authenticateCredential(key.credential));
    } catch (error) {
      // Any other error, such as an unavailable database, says nothing about the key.
      if (!(error instanceof ApiError) || error.status !== 401) return;
      if (this.watched.get(name) === key) this.watched.delete(name);
      this.closeAll(key, [...key.open.keys()], error);
    }
  }

  /** Closes the connections that need a scope which the key has lost; the others stay open. */
  private closeWithoutScope(key: WatchedKey, caller: Caller): void {
    for (const lost of SCOPES.filter((scope) => !caller.scopes.includes(scope))) {
      const concerned = [...key.open].filter(([, scopes]) => scopes.includes(lost)).map(([onRefused]) => onRefused);
      if (concerned.length === 0) continue;
      for (const onRefused of concerned) key.open.delete(onRefused);
      this.closeAll(key, concerned, lackOf(lost));
    }
  }

  private closeAll({ apiKeyId }: WatchedKey, connections: OnRefused[], refusal: ApiError): void {
    this.logger.log({ event: 'key.refused', api_key_id: apiKeyId, code: refusal.code, open: connections.length });
    for (const onRefused of connections) this.close(onRefused, refusal);
  }

  /** An error at the close of one connection must not keep others open, or end the rechecks. */
  private close(onRefused: OnRefused, refusal: ApiError): void {
    try {
      onRefused(refusal);
    } catch (error) {
      this.logger.error({ event: 'key.close_failed', err: error });
    }
  }
}

/**
 * The name of a credential: its header, or `session` and the token. The two never collide, because the look-up refuses
 * every header that does not begin with Bearer.
 */
const nameOf = (credential: Credential): string =>
  credential instanceof SessionToken ? `session ${credential.token}` : credential!; // without a credential the look-up throws
