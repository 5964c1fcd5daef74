import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { isDatabaseAway } from '../../errors/database-away.ts';
import { AttentivePool } from '../database/attentive-pool.ts';

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1000;
/** Then the failure is let through, and the runner above starts afresh. */
const PATIENCE_MS = 5 * 60_000;
const STOPPING_PATIENCE_MS = 2_000;

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

/**
 * A pool for the job queue, whose single statements wait for a database that is away instead of failing. The queue gives
 * up its whole runner, and everything it runs, over one failed "job done"; a restart of the database must not cost that.
 * One that answers nothing counts as away, since the pool is an attentive one (the queue polls, so it notices soon).
 * A statement that was interrupted is sent again; all the queue's own ones may be. Transactions are not sent again.
 */
export class PatientPool extends AttentivePool {
  #patienceMs = PATIENCE_MS;

  /** From now on failures come soon, because the process is stopping. What stays locked is freed by stray-jobs.ts. */
  hurry(): void {
    this.#patienceMs = STOPPING_PATIENCE_MS;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | void {
    if (!callback) return Promise.resolve(this.#patientClient() as unknown as PoolClient);
    void this.#connectToListen(callback);
  }

  /** The queue's own way of coming back waits up to a minute, and it would be taken for dead meanwhile. */
  async #connectToListen(callback: ConnectCallback): Promise<void> {
    let client: PoolClient;
    try {
      client = await this.#patiently(false, () => super.connect());
    } catch (error) {
      callback(error as Error, undefined, () => undefined);
      return;
    }
    this.keep(client);
    callback(undefined, client, client.release.bind(client));
  }

  /** Has no connection of its own until a statement needs one. */
  #patientClient(): Pick<PoolClient, 'release'> & { query(...args: unknown[]): Promise<unknown> } {
    let held: PoolClient | null = null;
    let inTransaction = false;
    const drop = (error?: Error) => {
      held?.release(error);
      held = null;
    };
    return {
      query: async (...args) => {
        const text = typeof args[0] === 'string' ? args[0] : (args[0] as { text: string }).text;
        if (text === 'begin') inTransaction = true;
        return this.#patiently(inTransaction, async () => {
          held ??= await super.connect();
          try {
            return await Reflect.apply(held.query as (...args: unknown[]) => Promise<unknown>, held, args);
          } catch (error) {
            if (isDatabaseAway(error)) drop(error as Error);
            throw error;
          } finally {
            if (text === 'commit' || text === 'rollback') inTransaction = false;
          }
        });
      },
      release: () => drop(),
    };
  }

  async #patiently<T>(once: boolean, act: () => Promise<T>): Promise<T> {
    const startedAt = Date.now();
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      try {
        return await act();
      } catch (error) {
        if (once || !isDatabaseAway(error) || Date.now() - startedAt > this.#patienceMs) throw error;
        await sleep(waitMs);
      }
    }
  }
}
