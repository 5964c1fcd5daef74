import type { CallerLimits } from '../../auth/access/caller.ts';
import type { BatchOptions } from '../../platform/database/batch.ts';
import type { TaskSource } from '../record/task-origin.ts';
import { CREATED, type LiveTask, type Task } from '../record/task.entity.ts';

/** PostgreSQL types by name of the column, for the rows that a statement is given as JSON. */
export type ColumnTypes = Readonly<Record<string, string>>;

/** SQL: column definitions for `json_to_recordset`. */
export const definitionsOf = (columns: ColumnTypes): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');

type Given = Pick<Task, 'id' | 'kind' | 'model' | 'input' | 'metadata'>;

/**
 * A task to insert. A field that is left out gets its default in the insert. Each field that is sent makes a creation
 * slower.
 */
export interface NewTask extends Given, Partial<Pick<Task, Exclude<keyof typeof CREATED, keyof Given>>> {
  api_key_id: string;
  /** `api` when left out. */
  source?: TaskSource | undefined;
  /** 0 when left out. */
  partial_images?: number | undefined;
  /**
   * Unix milliseconds by the database's clock, as is `expires_at`. PostgreSQL parses a number much faster than a date.
   */
  created_at: number;
  expires_at: number;
  /** Seconds from the insert to the deadline, by the database's clock. */
  deadline_s: number;
  /** Whether the task has low priority. */
  low?: true | undefined;
  /** Milliseconds that a run of this kind usually takes; left out if nothing is known. */
  run_ms?: number | undefined;
  /** Micro-units to reserve; only for an API key with a budget. */
  estimate_micros?: number | undefined;
  /**
   * The keys above the task's own key (its maker and so on) that count the task in their counters and budgets; left out
   * if there are none.
   */
  counts_for?: string[] | undefined;
  /** The limits of the API key; 0 = unlimited. A statement sends them once for each key. */
  limits: TaskLimits;
}

export type TaskLimits = Pick<CallerLimits, 'maxQueued' | 'maxRunning' | 'weight'>;

/** A task for `CreateTaskBatch`: an item of a batch, or a single task that counts for several keys. */
export interface NewBatchTask extends NewTask {
  batch_id: string | null;
  batch_index: number | null;
  custom_id: string | null;
  task_events: boolean;
}

/** The columns of a `PlacedTask` that a statement reads, with their types. */
export const COLUMNS = {
  key: 'int',
  nth: 'int',
  ahead: 'bigint',
  low: 'boolean',
  ...CREATED,
  source: 'text',
  partial_images: 'smallint',
  created_at: 'float8',
  expires_at: 'float8',
  deadline_s: 'float8',
} satisfies ColumnTypes & Partial<Record<keyof PlacedTask<NewTask>, string>>;

/**
 * Column definitions for reading a `PlacedTask` from JSON. A statement may append further ones, such as
 * `BATCH_COLUMNS`.
 */
export const DEFINITIONS = definitionsOf(COLUMNS);

/**
 * Column definitions for the further fields that are read from a `NewBatchTask`. A statement appends them to
 * `DEFINITIONS`.
 */
export const BATCH_COLUMNS = 'batch_id text, batch_index int, custom_id text, task_events boolean, counts_for text[]';
const BATCH_NAMES = ', batch_id, batch_index, custom_id, task_events, counts_for';

/** The columns of a new task with their values. */
const INSERTED: Partial<Record<keyof LiveTask, string>> = {
  ...Object.fromEntries(Object.keys(CREATED).map((column) => [column, column])),
  api_key_id: 'load.api_key_id',
  status: `'queued'`,
  source: `coalesce(source, 'api')`,
  partial_images: 'coalesce(partial_images, 0)',
  created_at: 'to_timestamp(created_at / 1000)',
  expires_at: 'to_timestamp(expires_at / 1000)',
  deadline_at: 'now() + make_interval(secs => deadline_s)',
  place: 'case when low then low_start else start end + coalesce(ahead, 0)',
  low: 'coalesce(low, false)',
};

/** @param more names of further columns, each with a comma before it */
const insertTasks = (more: string, values = more): string => `
      insert into tasks_live (${Object.keys(INSERTED).join(', ')}${more})
      select ${Object.values(INSERTED).join(', ')}${values}
      from wanted join load using (key)`;

/**
 * SQL fragment that inserts tasks; needs the CTEs `wanted` and `load`. The row of a task is also its entry in the
 * queue.
 */
export const INSERT = insertTasks('');
/** SQL fragment that inserts each `NewBatchTask` of `wanted`; needs the CTE `load` too. */
export const INSERT_OF_BATCH = insertTasks(BATCH_NAMES);
/** SQL fragment that inserts tasks of API keys with a budget; needs the CTEs `wanted`, `load` and `budget`. */
export const INSERT_RESERVED = `${insertTasks(', budget_day, reserved_micros', ', budget.today, case when budget.today is not null then estimate_micros end')}
      left join budget using (api_key_id)`;

/** Batches are split: otherwise 64 clients alternated between batches of 1 and 63, and throughput fell by 2 to 11 %. */
export const BATCHING: BatchOptions = { maxItems: 200, splitInHalf: true };

/** A task with its number among those of its API key in one statement. */
export type PlacedTask<Task extends NewTask> = Task & {
  /**
   * The number of the API key in the statement. This number is sent instead of the id of the key, because PostgreSQL
   * compares it with each key of the statement.
   */
  key: number;
  /** The number of the task among those of its API key, from 1. */
  nth: number;
  /** The summed cost of the key's tasks of the same priority before this one; left out if there are none. */
  ahead: number | undefined;
};
