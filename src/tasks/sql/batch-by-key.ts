import { ApiError } from '../../errors/api-error.ts';
import { Batch, type BatchOptions } from '../../platform/database/batch.ts';

/** PostgreSQL gave up waiting for a lock (`lock_timeout`). */
const LOCK_NOT_AVAILABLE = '55P03';
/** A process that hangs in a transaction loses its locks after 5 s (`idle_in_transaction_session_timeout`). */
const LOCKED_FOR_MS = 5_000;

interface OfKey {
  api_key_id: string;
}

/**
 * A value of `lock_timeout` for a statement that has `lockWait` in its first CTE. PostgreSQL may wait twice for one
 * row: for its place in the line and then for the row.
 */
export type LockWait = '1200ms' | '100ms';

/**
 * SQL fragment for a `from`: sets the parameter's `lock_timeout` until the transaction ends, without another statement.
 */
export const lockWait = (parameter: string): string => `set_config('lock_timeout', ${parameter}, true)`;

/**
 * A batch in which a locked row fails only the items of its own API key. When a flush gives up on a lock, each key is
 * flushed alone. A key that is still locked is flushed apart from then on, until one of its items succeeds or 5 s are
 * over. So the items of other keys wait for it once at most.
 */
export class BatchByKey<Item extends OfKey, Outcome> {
  private readonly together: Batch<Item, Outcome>;
  private readonly apart: Batch<Item, Outcome>;
  /** By API key; until when it is flushed apart, on the monotonic clock. */
  private readonly lockedUntilMs = new Map<string, number>();

  /** @param flush as in `Batch` */
  constructor(
    private readonly flush: (items: Item[], wait: LockWait) => Promise<(Outcome | ApiError)[]>,
    options: BatchOptions,
  ) {
    this.together = new Batch((items) => this.flushTogether(items), options);
    this.apart = new Batch((items) => this.flushKeyByKey(items), options);
  }

  add(item: Item): Promise<Outcome> {
    return (this.isLocked(item.api_key_id) ? this.apart : this.together).add(item);
  }

  private async flushTogether(items: Item[]): Promise<(Outcome | ApiError)[]> {
    try {
      return await this.flush(items, '1200ms');
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      return this.flushKeyByKey(items);
    }
  }

  /** Does not throw: what one key did has been committed when another one fails. */
  private async flushKeyByKey(items: Item[]): Promise<(Outcome | ApiError)[]> {
    const outcomes = new Map<Item, Outcome | ApiError>();
    const keys = Map.groupBy(items, ({ api_key_id }) => api_key_id);
    await Promise.all(
      [...keys].map(async ([apiKeyId, ofKey]) => {
        const results = await this.flushKey(apiKeyId, ofKey);
        ofKey.forEach((item, at) => outcomes.set(item, results[at]!));
      }),
    );
    return items.map((item) => outcomes.get(item)!);
  }

  private async flushKey(apiKeyId: string, items: Item[]): Promise<(Outcome | ApiError)[]> {
    try {
      const outcomes = await this.flush(items, '100ms');
      this.lockedUntilMs.delete(apiKeyId);
      return outcomes;
    } catch (cause) {
      if (isLockTimeout(cause)) this.lockedUntilMs.set(apiKeyId, performance.now() + LOCKED_FOR_MS);
      return items.map(() => new ApiError('service_unavailable', { retryAfterS: 1, cause }));
    }
  }

  private isLocked(apiKeyId: string): boolean {
    const untilMs = this.lockedUntilMs.get(apiKeyId);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.lockedUntilMs.delete(apiKeyId);
    return false;
  }
}

export const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === LOCK_NOT_AVAILABLE;
