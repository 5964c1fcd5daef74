import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { ApiError } from '../errors/api-error.ts';
import { outsideOfRequests } from '../platform/logging/request-context.ts';
import { Authenticator } from './authenticator.ts';

/** All connections of a revoked key must be closed within 5 s, so keys are rechecked every 2 s, bypassing the cache. */
const RECHECK_MS = 2_000;

/** @param refusal api_key_revoked, api_key_expired or invalid_api_key */
type OnRefused = (refusal: ApiError) => void;

/** The open connections of one key. */
interface WatchedKey {
  apiKeyId: string;
  onRefused: Set<OnRefused>;
}

/** Permission for one connection to stay open. */
export interface Admission {
  apiKeyId: string;
  /** Call when the connection has closed. */
  release(): void;
}

/** Rechecks the API keys of open sockets, event streams and long polls. All connections of one key share one check. */
@Injectable()
export class KeyWatch implements OnApplicationShutdown {
  private readonly logger = new Logger('auth');
  private readonly watched = new Map<string, WatchedKey>();
  private timer: NodeJS.Timeout | undefined;
  private isRechecking = false;

  constructor(private readonly authenticator: Authenticator) {}

  /**
   * @param authorization the header, `Bearer <API_KEY>`
   * @param onRefused called once when the key has been revoked or has expired
   * @throws ApiError missing_api_key, invalid_api_key, api_key_revoked, api_key_expired
   */
  async admit(authorization: string | undefined, onRefused: OnRefused): Promise<Admission> {
    const { apiKeyId } = await this.authenticator.authenticateHeader(authorization);
    const header = authorization!; // the line above throws without a header
    const key = this.watched.get(header) ?? { apiKeyId, onRefused: new Set() };
    this.watched.set(header, key);
    key.onRefused.add(onRefused);
    this.timer ??= outsideOfRequests(() => setInterval(() => void this.recheckAll(), RECHECK_MS).unref());
    return {
      apiKeyId,
      release: () => {
        key.onRefused.delete(onRefused);
        if (key.onRefused.size === 0 && this.watched.get(header) === key) this.watched.delete(header);
      },
    };
  }

  /**
   * Runs a request that waits, and answers it with the refusal as soon as its key is refused.
   * @param work must stop waiting when the signal aborts; its result is discarded then
   * @throws ApiError those of `admit`, also later, and whatever `work` throws
   */
  async whileAdmitted<Result>(
    authorization: string | undefined,
    work: (refused: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const refused = new AbortController();
    const { release } = await this.admit(authorization, (refusal) => refused.abort(refusal));
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
      await Promise.all([...this.watched].map(([header, key]) => this.recheck(header, key)));
    } catch (error) {
      this.logger.error({ event: 'key.recheck_failed', err: error });
    } finally {
      this.isRechecking = false;
    }
  }

  /** A connection whose closing throws must not keep others open, or end the rechecks. */
  private close(onRefused: OnRefused, refusal: ApiError): void {
    try {
      onRefused(refusal);
    } catch (error) {
      this.logger.error({ event: 'key.close_failed', err: error });
    }
  }

  private async recheck(header: string, key: WatchedKey): Promise<void> {
    try {
      await this.authenticator.authenticateHeader(header);
    } catch (error) {
      // Any other error, such as an unavailable database, says nothing about the key.
      if (!(error instanceof ApiError) || error.status !== 401) return;
      if (this.watched.get(header) === key) this.watched.delete(header);
      this.logger.log({
        event: 'key.refused',
        api_key_id: key.apiKeyId,
        code: error.code,
        open: key.onRefused.size,
      });
      for (const onRefused of key.onRefused) this.close(onRefused, error);
    }
  }
}
