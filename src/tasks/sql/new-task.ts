import type { CallerLimits } from '../../auth/access/caller.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { BatchOptions } from '../../platform/database/batch.ts';
import type { TaskRelation, TaskSource } from '../record/task-origin.ts';
import type { Approximation } from '../record/task.entity.ts';
import { type ColumnTypes, definitionsOf } from './column-arrays.ts';
import { placeOf } from './line.ts';

/** A task to insert. Every field that it has costs each creation time. */
export interface NewTask {
  id: string;
  api_key_id: string;
  kind: MediaKind;
  model: string;
  input: object;
  metadata: Record<string, string>;
  /** Left out: `api`. */
  source?: TaskSource | undefined;
  parent_task_id?: string | undefined;
  relation?: TaskRelation | undefined;
  /** Left out: none. */
  partial_images?: number | undefined;
  request_approximations?: Approximation[] | undefined;
  /**
   * Unix milliseconds by the database's clock, like `expires_at`: PostgreSQL parses a number in a fraction of the time
   * it takes for a date.
   */
  created_at: number;
  expires_at: number;
  /** Seconds from now, by the database's clock. */
  deadline_s: number;
  /** Seconds from the first start; left out: as long as it may wait. */
  run_deadline_s?: number;
  /** Seconds from its end that its files are kept; left out: as long as configured. */
  file_retention_s?: number | undefined;
  /** Of low priority. */
  low?: true | undefined;
  /** Of the request, for the log of the run. */
  request_id?: string | undefined;
  /** Of that request's span; left out when it is not sampled. */
  trace_parent?: string | undefined;
  /** Micro-units to reserve; only for an API key with a budget. */
  estimate_micros?: number | undefined;
  /** Of the API key, for which they are sent once. 0 = unlimited. */
  limits: TaskLimits;
}

export type TaskLimits = Pick<CallerLimits, 'maxQueued' | 'maxRunning' | 'weight'>;

/** A task to insert that is an item of a batch. */
export interface NewBatchTask extends NewTask {
  batch_id: string;
  batch_index: number;
  custom_id: string | null;
  task_events: boolean;
}

/** The columns of a `PlacedTask`. */
export const COLUMNS = {
  key: 'int',
  place: 'int',
  nth: 'int',
  low: 'boolean',
  id: 'text',
  kind: 'text',
  model: 'text',
  input: 'json',
  metadata: 'jsonb',
  source: 'text',
  parent_task_id: 'text',
  relation: 'text',
  partial_images: 'smallint',
  request_approximations: 'json',
  created_at: 'float8',
  expires_at: 'float8',
  deadline_s: 'float8',
  run_deadline_s: 'real',
  file_retention_s: 'float8',
  request_id: 'text',
  trace_parent: 'text',
} satisfies ColumnTypes & Partial<Record<keyof PlacedTask<NewTask>, string>>;

/** Column definitions that read a `PlacedTask` from JSON; more columns may follow. */
export const DEFINITIONS = definitionsOf(COLUMNS);

/** Column definitions that read what a `NewBatchTask` has beside; they follow `DEFINITIONS`. */
export const BATCH_COLUMNS = 'batch_id text, batch_index int, custom_id text, task_events boolean';
const BATCH_NAMES = ', batch_id, batch_index, custom_id, task_events';

/** @param more names of further columns, each with a comma before it */
const insertTasks = (more: string, values = more): string => `
      insert into tasks (id, api_key_id, kind, model, status, input, metadata, source, parent_task_id, relation, partial_images,
                         request_approximations, created_at, expires_at, deadline_at, run_deadline_s, file_retention_s, priority, low, request_id, trace_parent${more})
      select id, load.api_key_id, kind, model, 'queued', input, metadata, coalesce(source, 'api'), parent_task_id, relation,
             coalesce(partial_images, 0), request_approximations, to_timestamp(created_at / 1000), to_timestamp(expires_at / 1000),
             now() + make_interval(secs => deadline_s), run_deadline_s, file_retention_s, ${placeOf('low', 'case when low then low_ahead else ahead end + coalesce(nth, place)', 'load.weight')},
             coalesce(low, false), request_id, trace_parent${values}
      from wanted join load using (key)`;

/** SQL fragment; needs the CTEs `wanted` and `load`. The task row doubles as its queue entry. */
export const INSERT = insertTasks('');
/** The same for the items of a batch. */
export const INSERT_OF_BATCH = insertTasks(BATCH_NAMES);
/** The same, with the CTE `budget`, for the tasks of API keys that have one. */
export const INSERT_RESERVED = `${insertTasks(', budget_day, reserved_micros', ', budget.today, case when budget.today is not null then estimate_micros end')}
      left join budget using (api_key_id)`;

/** Without splitting, 64 clients alternated between batches of 1 and 63; throughput fell by 2 to 11 %. */
export const BATCHING: BatchOptions = { maxItems: 200, splitInHalf: true };

/** The limits of an API key and what a statement asks for it, as it is sent to PostgreSQL. */
interface KeyRow {
  /** From 1. */
  key: number;
  api_key_id: string;
  tasks: number;
  /** Those of its places whose task has low priority, ascending. */
  low_places: number[];
  max_queued: number;
  max_running: number;
  weight: number;
}

/** A task with its place among those of its API key in one statement. */
type PlacedTask<Task extends NewTask> = Task & {
  /** Number of its API key: PostgreSQL compares it with each key of the statement. */
  key: number;
  place: number;
  /** Its place among those of the same priority; left out where it is the same. */
  nth: number | undefined;
};

/** Numbers the tasks of each API key. @returns also the API keys, as JSON */
export function placed<Task extends NewTask>(tasks: Task[]): { rows: PlacedTask<Task>[]; keys: string } {
  const keys = new Map<string, KeyRow>();
  const rows = tasks.map((task) => {
    const key = keys.get(task.api_key_id) ?? keyRow(keys.size + 1, task);
    if (key.tasks === 0) keys.set(task.api_key_id, key);
    const place = (key.tasks += 1);
    if (task.low) key.low_places.push(place);
    const lows = key.low_places.length;
    const nth = task.low ? lows : place - lows;
    return { ...task, key: key.key, place, nth: nth === place ? undefined : nth };
  });
  return { rows, keys: JSON.stringify([...keys.values()]) };
}

const keyRow = (key: number, { api_key_id, limits: { maxQueued, maxRunning, weight } }: NewTask): KeyRow => ({
  key,
  api_key_id,
  tasks: 0,
  low_places: [],
  max_queued: maxQueued,
  max_running: maxRunning,
  weight,
});
