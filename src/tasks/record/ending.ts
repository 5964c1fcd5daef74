import type { Statement, Tx } from '../../platform/database/sql.ts';
import type { TaskError } from './task-error.ts';
import type { ShownTask, StoredOutput } from './task.entity.ts';
import type { Moment } from './moment.ts';
import type { RunUsage } from './task-usage.ts';

/**
 * The longest time, in milliseconds, from the beginning of a transaction that ends tasks until the answer to its first
 * statement. The beginning of the transaction is the `completed_at` of the tasks. A slower transaction is rolled back.
 * So a stream that resumes knows how late an end can become visible.
 */
export const LONGEST_END_MS = 5_000;

/** A request to end a task. */
export interface Ending {
  id: string;
  api_key_id: string;
  /**
   * The attempt of the claim that ends the task. null ends the task whichever claim holds it, as for a cancel or the
   * deadline.
   */
  attempt: number | null;
  /** End the task only if the lease of its claim has expired. The sweep sets this when it reports a lost worker. */
  lapsed?: boolean;
  /** End the task only if no worker has claimed it yet. */
  unclaimed?: boolean;
  outcome: { status: 'succeeded'; result: StoredOutput[] } | { status: 'failed'; error: TaskError };
  /** Moments to add to the timeline of the task; absent if there are none. */
  moments?: Moment[];
  /**
   * What the run has used. Absent when no worker ends the task, as for a cancel or the sweep. The row of the task then
   * says what the task has used.
   */
  usage?: RunUsage | undefined;
  /** The resolution in the task's input, if the caller has it at hand. */
  resolution?: unknown;
}

/** A statement that another module adds to the transaction that ends tasks. */
export interface EndWrite {
  statement: Statement & { values: unknown[] };
  /** @param rows what the statement returned */
  afterCommit(rows: object[]): void;
}

/**
 * A hook of another module that writes in the transaction that ends tasks. It must start its reads on `tx`
 * synchronously, so that they are pipelined with the statement that ends the tasks.
 * @param apiKeyIds API keys of the tasks that are about to end
 * @returns a function that makes the write from the tasks that ended; null when none of these tasks needs a write
 */
export type EndHook = (tx: Tx, apiKeyIds: string[]) => Promise<((ended: ShownTask[]) => EndWrite | null) | null>;
