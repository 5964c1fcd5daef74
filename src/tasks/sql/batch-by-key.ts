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
 * A value of `lock_timeout` for a statement that has `setLockTimeout` in its first CTE. `300ms` is for a flush of
 * several keys: a locked row must not delay the items of other keys for long. `100ms` is for a flush of one of these
 * keys alone afterwards. `1200ms` is for a key whose row was found locked. If MAX_PATIENT such keys wait already, a
 * further one gets `100ms`. PostgreSQL may wait twice for one row: for its turn among the waiting statements, and then
 * for the row.
 */
export type LockTimeout = '1200ms' | '300ms' | '100ms';

/**
 * SQL fragment for a `from`: sets `lock_timeout` to the parameter until the transaction ends, without another
 * statement.
 */
export const setLockTimeout = (parameter: string): string => `set_config('lock_timeout', ${parameter}, true)`;

/**
 * The most keys that may wait `1200ms` for their locked rows at the same time, because each wait holds a connection.
 */
const MAX_PATIENT = 4;

/**
 * A batch in which a locked row delays only the items of its own API key. When a flush gives up on a lock, each of its
 * keys is flushed alone. A key that is still locked gets a batch of its own, until one of its flushes succeeds or 5 s
 * have passed since the last lock timeout. So the items of other keys wait for a locked key at most once, for less than
 * a second.
 */
export class BatchByKey<Item extends OfKey, Outcome> {
  /** The batch of the keys that are not locked. An outcome that is a promise comes from the batch of a locked key. */
  private readonly together: Batch<Item, Outcome | Promise<Outcome>>;
  private readonly locked = new Map<string, LockedKey<Item, Outcome>>();
  private patient = 0;

  /** @param flush as in `Batch` */
  constructor(
    private readonly flush: (items: Item[], wait: LockTimeout) => Promise<(Outcome | ApiError)[]>,
    private readonly options: BatchOptions,
  ) {
    this.together = new Batch((items) => this.flushTogether(items), options);
  }

  async add(item: Item): Promise<Outcome> {
    return this.lockedKey(item.api_key_id)?.batch.add(item) ?? this.together.add(item);
  }

  private async flushTogether(items: Item[]): Promise<(Outcome | Promise<Outcome> | ApiError)[]> {
    const outcomes = new Map<Item, Outcome | Promise<Outcome> | ApiError>();
    const takeEach = (of: Item[], results: readonly (Outcome | ApiError)[]) =>
      of.forEach((item, at) => outcomes.set(item, results[at]!));
    // The row of a key may have been found locked since the item came.
    const free = items.filter((item) => {
      const locked = this.lockedKey(item.api_key_id);
      if (locked) outcomes.set(item, locked.batch.add(item));
      return !locked;
    });
    try {
      if (free.length > 0) takeEach(free, await this.flush(free, '300ms'));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const keys = Map.groupBy(free, ({ api_key_id }) => api_key_id);
      await Promise.all(
        [...keys].map(async ([apiKeyId, ofKey]) => {
          try {
            takeEach(ofKey, await this.flush(ofKey, '100ms'));
          } catch (cause) {
            // Does not throw, because other keys may have committed when this one fails.
            const { batch } = isLockTimeout(cause) ? this.lock(apiKeyId) : { batch: null };
            for (const item of ofKey) outcomes.set(item, batch?.add(item) ?? unavailable(cause));
          }
        }),
      );
    }
    return items.map((item) => outcomes.get(item)!);
  }

  private async flushLocked(apiKeyId: string, items: Item[]): Promise<(Outcome | ApiError)[]> {
    const isPatient = this.patient < MAX_PATIENT;
    if (isPatient) this.patient += 1;
    try {
      const outcomes = await this.flush(items, isPatient ? '1200ms' : '100ms');
      this.locked.delete(apiKeyId);
      return outcomes;
    } catch (cause) {
      if (isLockTimeout(cause)) this.lock(apiKeyId);
      return items.map(() => unavailable(cause));
    } finally {
      if (isPatient) this.patient -= 1;
    }
  }

  private lock(apiKeyId: string): LockedKey<Item, Outcome> {
    const { batch } = this.locked.get(apiKeyId) ?? {
      batch: new Batch<Item, Outcome>((items) => this.flushLocked(apiKeyId, items), this.options),
    };
    const locked = { batch, untilMs: performance.now() + LOCKED_FOR_MS };
    this.locked.set(apiKeyId, locked);
    return locked;
  }

  private lockedKey(apiKeyId: string): LockedKey<Item, Outcome> | undefined {
    const locked = this.locked.get(apiKeyId);
    if (!locked || performance.now() < locked.untilMs) return locked;
    this.locked.delete(apiKeyId);
    return undefined;
  }
}

interface LockedKey<Item, Outcome> {
  batch: Batch<Item, Outcome>;
  /** Until when the key counts as locked, on the monotonic clock. */
  untilMs: number;
}

const unavailable = (cause: unknown): ApiError => new ApiError('service_unavailable', { retryAfterS: 1, cause });

export const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === LOCK_NOT_AVAILABLE;
