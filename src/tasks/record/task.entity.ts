import { defineChoice } from '../../platform/schema/choice.ts';
import type { Config } from '../../platform/config/config.ts';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TaskError } from './task-error.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { TaskRelation, TaskSource } from './task-origin.ts';
import type { Moment } from './moment.ts';
import type { FixedPrice, StoredUsage } from './task-usage.ts';

export const TASK_STATUSES = ['queued', 'running', 'succeeded', 'failed'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
export const TaskStatusChoice = defineChoice('TaskStatus', TASK_STATUSES, 'Status of a task; the last two are final.');

/** A final status never changes. */
export const isFinal = (status: TaskStatus): boolean => status === 'succeeded' || status === 'failed';

/** Retry-After of an unfinished task: seconds between polls. */
export const POLL_AFTER_S = { image: 2, video: 5 } as const;

/** A stored file of a finished generation. It has no link, because links are signed at each read. */
export interface StoredOutput {
  /** `file_` + the task's 26 characters + `_` + index */
  id: string;
  index: number;
  type: 'image' | 'video';
  storage_key: string;
  /** WebP of the first frame; videos only, and only where one could be made. */
  thumbnail_key?: string;
  content_type: string;
  size_bytes: number;
  /** Pixels. */
  width: number;
  height: number;
  /** Seconds; videos only. */
  duration?: number;
  /** Hex. */
  sha256: string;
  /** The seed that was sent with the call for this output; absent if none was. */
  seed?: number;
  /** Whether the owner has deleted the bytes, or they expired at `expires_at`. */
  deleted?: boolean;
  /** Whether the owner keeps the output. */
  kept?: boolean;
  /** The name under which the output is kept. */
  collection?: string;
  /** Unix seconds at which this output expires. Set only if another output of the task is kept and this one is not. */
  expires_at?: number;
}

/** A requested value, and the nearest one that could be used instead. */
export interface Approximation {
  param: string;
  requested: string | number;
  used: string | number;
}

/**
 * An unfinished task: a row of the queue, with what its worker notes. Properties are named as their columns, so a row
 * that raw SQL returns also has this type. The statements in `sql/` write the table.
 */
@Entity('tasks_live')
export class LiveTask {
  /** `task_` + 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  @Column('text') kind: MediaKind;
  @Column('text') model: string;
  /** The version of the model under which the task was created or first ran; null in tasks older than this column. */
  @Column('text', { nullable: true }) model_version: string | null;
  @Column('text') status: 'queued' | 'running';
  /** Percent. */
  @Column('smallint') progress: number;
  /** Rises by one with every visible change. */
  @Column('integer') sequence: number;
  @Column('json') input: Record<string, unknown>;
  @Column('jsonb') metadata: Record<string, string>;
  @Column('text') source: TaskSource;
  /** The record of the parent may be deleted before the record of this task. */
  @Column('text', { nullable: true }) parent_task_id: string | null;
  @Column('text', { nullable: true }) relation: TaskRelation | null;
  /** The most partial images that one claim of the task stores. A film and a task of several pictures store none. */
  @Column('smallint') partial_images: number;
  /** The batch that the task is an item of; null if there is none. */
  @Column('text', { nullable: true }) batch_id: string | null;
  /** Position in the batch, from 0; null without a batch. */
  @Column('integer', { nullable: true }) batch_index: number | null;
  /** The client's name for the item of the batch; null if the client gave none. */
  @Column('text', { nullable: true }) custom_id: string | null;
  /** Whether the end of the task is sent to webhooks. */
  @Column('boolean') task_events: boolean;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz', { nullable: true }) started_at: Date | null;
  /** The record is deleted after this time. */
  @Column('timestamptz') expires_at: Date;
  /**
   * Seconds for which the files are kept after the end; null: the configured time of the process that ends the task.
   */
  @Column('double precision', { nullable: true }) file_retention_s: number | null;
  /** Approximations by the interface that took the request, before any provider was asked. */
  @Column('json', { nullable: true }) request_approximations: Approximation[] | null;
  /** The id of the request that created the task, for the log; null in tasks created before this column existed. */
  @Column('text', { nullable: true }) request_id: string | null;
  /** The traceparent of the span of the request that created the task; null when this span was not sampled. */
  @Column('text', { nullable: true }) trace_parent: string | null;
  /** Whether the task waits behind those of normal priority. */
  @Column('boolean') low: boolean;
  /** The UTC day whose budget the task counts in; null when no key that counts the task had a budget. */
  @Column('date', { nullable: true }) budget_day: string | null;
  /**
   * What the creation reserved in the budget; null without a budget. The end of the task replaces this amount by the
   * cost.
   */
  @Column('bigint', { nullable: true }) reserved_micros: string | null;
  /**
   * The keys above the task's own key (its maker and so on) that count the task in their counters and budgets; null if
   * there are none.
   */
  @Column('text', { array: true, nullable: true }) counts_for: string[] | null;

  /**
   * Whether the task waits in the line: it was never claimed and is not parked. Only statements about the line name
   * this column.
   */
  @Column('boolean') waits: boolean;
  /**
   * Whether the task is parked, so that no claim takes it: its API key, or a key above it, is at its limit of running
   * tasks, or a pause holds the task.
   */
  @Column('boolean') parked: boolean;
  /** The pause for which the task is parked; null if there is none. */
  @Column('text', { nullable: true }) paused_by: string | null;
  /** The place in the line of waiting tasks of this priority: lower numbers are claimed first. See sql/admission.ts. */
  @Column('bigint') place: string;

  /**
   * The number of the current claim; 0 before the first. Every write of a worker names it, so the write of a late
   * worker changes nothing.
   */
  @Column('integer') attempt: number;
  /** Lost attempts: claims that ended in an expired lease, and jobs that their provider lost. */
  @Column('smallint') losses: number;
  /**
   * When the worker's lease ends. A worker that gives a task back sets it to when the task may be claimed again. null
   * before the first claim, and while the task is parked.
   */
  @Column('timestamptz', { nullable: true }) lease_until: Date | null;
  /**
   * Whether the running task waits for its provider or the end of a pause, and does not count towards `max_running`.
   */
  @Column('boolean') held: boolean;
  @Column('text', { nullable: true }) worker_id: string | null;
  /**
   * The sweep ends the task after this time. It counts from the creation while the task waits for its first start, and
   * from then on from this start.
   */
  @Column('timestamptz') deadline_at: Date;
  /** Seconds from the first start to the deadline; null: as many as the task was allowed to wait. */
  @Column('real', { nullable: true }) run_deadline_s: number | null;

  @Column('text', { nullable: true }) provider: string | null;
  /** The base URL that was called. With provider and credential it tells which binding must continue after a crash. */
  @Column('text', { nullable: true }) provider_url: string | null;
  /** The provider's own name for the model that was called; null in tasks submitted before this column existed. */
  @Column('text', { nullable: true }) provider_model: string | null;
  /** Name of the environment variable that holds the provider's key, never its value. */
  @Column('text', { nullable: true }) credential: string | null;
  /** When the intent to make the paid call was committed; null before that, and after the intent was withdrawn. */
  @Column('timestamptz', { nullable: true }) submitted_at: Date | null;
  @Column('text', { nullable: true }) upstream_id: string | null;
  @Column('text', { nullable: true }) upstream_request_id: string | null;
  /** Approximations by the provider of the last submit. */
  @Column('json', { nullable: true }) approximations: Approximation[] | null;
  /**
   * The price, fixed when the intent to submit is recorded. null before that, after the intent was withdrawn, and if no
   * price matches.
   */
  @Column('json', { nullable: true }) price: FixedPrice | null;
  /** Paid calls so far. */
  @Column('integer') submits: number;
  /** Calls in `submits` whose answer was lost and that were repeated. They may have been charged. */
  @Column('integer') lost_submits: number;
  /** The full price of the lost submits. */
  @Column('bigint') lost_micros: string;
  /** Moments of the task that do not follow from other columns; null if there are none. */
  @Column('jsonb', { nullable: true }) timeline: Moment[] | null;
}

/**
 * A final task. The statement that ends a task moves the task here, and the task never goes back. Columns that
 * `LiveTask` has too are explained there.
 */
@Entity('tasks_done')
export class DoneTask {
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  @Column('text') kind: MediaKind;
  @Column('text') model: string;
  @Column('text', { nullable: true }) model_version: string | null;
  @Column('text') status: 'succeeded' | 'failed';
  @Column('smallint') progress: number;
  @Column('integer') sequence: number;
  @Column('json') input: Record<string, unknown>;
  @Column('jsonb') metadata: Record<string, string>;
  @Column('text') source: TaskSource;
  @Column('text', { nullable: true }) parent_task_id: string | null;
  @Column('text', { nullable: true }) relation: TaskRelation | null;
  @Column('smallint') partial_images: number;
  @Column('text', { nullable: true }) batch_id: string | null;
  @Column('integer', { nullable: true }) batch_index: number | null;
  @Column('text', { nullable: true }) custom_id: string | null;
  @Column('boolean') task_events: boolean;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz', { nullable: true }) started_at: Date | null;
  /** The time of the transaction that ended the task. */
  @Column('timestamptz') completed_at: Date;
  @Column('timestamptz') expires_at: Date;
  @Column('json', { nullable: true }) request_approximations: Approximation[] | null;
  @Column('text', { nullable: true }) request_id: string | null;
  @Column('text', { nullable: true }) trace_parent: string | null;
  @Column('boolean') low: boolean;
  @Column('date', { nullable: true }) budget_day: string | null;
  @Column('text', { array: true, nullable: true }) counts_for: string[] | null;

  @Column('integer') attempt: number;
  @Column('smallint') losses: number;
  @Column('text', { nullable: true }) worker_id: string | null;
  @Column('timestamptz') deadline_at: Date;
  @Column('text', { nullable: true }) provider: string | null;
  @Column('text', { nullable: true }) provider_url: string | null;
  @Column('text', { nullable: true }) provider_model: string | null;
  @Column('text', { nullable: true }) credential: string | null;
  @Column('timestamptz', { nullable: true }) submitted_at: Date | null;
  @Column('text', { nullable: true }) upstream_id: string | null;
  @Column('text', { nullable: true }) upstream_request_id: string | null;
  @Column('json', { nullable: true }) approximations: Approximation[] | null;
  @Column('integer') submits: number;
  @Column('integer') lost_submits: number;
  @Column('jsonb', { nullable: true }) timeline: Moment[] | null;

  /**
   * The usage, written by the statement that ends the task; null in older tasks, and in queued tasks that ended because
   * their API key was revoked.
   */
  @Column('json', { nullable: true }) usage: StoredUsage | null;
  @Column('json', { nullable: true }) result: StoredOutput[] | null;
  @Column('json', { nullable: true }) error: TaskError | null;
  /** The files of `result` are deleted after this time; null without files. */
  @Column('timestamptz', { nullable: true }) files_expire_at: Date | null;
  @Column('boolean') files_purged: boolean;
  /**
   * No purge takes the task before this time: a worker is deleting what has expired of it, or a deletion or an erasure
   * has hidden it.
   */
  @Column('timestamptz', { nullable: true }) purge_after: Date | null;

  /** When the owner began to keep the task or one of its outputs; null: nothing of it is kept. */
  @Column('timestamptz', { nullable: true }) kept_at: Date | null;
  /** The name under which the task is kept. */
  @Column('text', { nullable: true }) collection: string | null;
  /** `expires_at` as it was before the task was kept. It is restored when the task is no longer kept. */
  @Column('timestamptz', { nullable: true }) unkept_expires_at: Date | null;
  /** `files_expire_at` as it was before an output was kept. It is restored when no output is kept any more. */
  @Column('timestamptz', { nullable: true }) unkept_files_expire_at: Date | null;
  /** The earliest expiry among the outputs that have their own and are not deleted; null if there is none. */
  @Column('timestamptz', { nullable: true }) output_expires_at: Date | null;
}

/**
 * A task of the view `tasks`, which has the rows of `tasks_live` and `tasks_done`. A column that the table of the task
 * lacks is null, or has its default.
 */
export type Task = Omit<LiveTask, 'status' | 'waits' | 'held' | 'counts_for'> &
  Omit<
    DoneTask,
    keyof LiveTask | 'completed_at' | 'unkept_expires_at' | 'unkept_files_expire_at' | 'output_expires_at'
  > & { status: TaskStatus; completed_at: Date | null };

/**
 * The columns that clients see, and three more that the service needs: `api_key_id`, `attempt` and `task_events`. They
 * are selected and read in this order. Reading the other columns, which are for workers, would make a list of tasks a
 * seventh slower.
 *
 * Written as an object literal, because V8 makes one in a tenth of the time of a loop over names.
 */
export const shownTask = (value: <Name extends keyof Task>(column: Name) => Task[Name]) => ({
  id: value('id'),
  api_key_id: value('api_key_id'),
  kind: value('kind'),
  model: value('model'),
  model_version: value('model_version'),
  status: value('status'),
  progress: value('progress'),
  sequence: value('sequence'),
  attempt: value('attempt'),
  input: value('input'),
  metadata: value('metadata'),
  created_at: value('created_at'),
  started_at: value('started_at'),
  completed_at: value('completed_at'),
  expires_at: value('expires_at'),
  source: value('source'),
  low: value('low'),
  parent_task_id: value('parent_task_id'),
  relation: value('relation'),
  batch_id: value('batch_id'),
  batch_index: value('batch_index'),
  custom_id: value('custom_id'),
  task_events: value('task_events'),
  request_id: value('request_id'),
  approximations: value('approximations'),
  request_approximations: value('request_approximations'),
  result: value('result'),
  error: value('error'),
  files_expire_at: value('files_expire_at'),
  submits: value('submits'),
  usage: value('usage'),
  kept_at: value('kept_at'),
  collection: value('collection'),
});

export type ShownTask = Pick<Task, keyof ReturnType<typeof shownTask>>;

export const SHOWN = Object.keys(shownTask(() => null as never)) as (keyof ShownTask)[];

/** The shown columns, for a `select`. */
export const SHOWN_COLUMNS = SHOWN.join(', ');

/** Shown columns that `tasks_live` lacks, with their types. */
const OF_END: Partial<Record<keyof ShownTask, string>> = {
  completed_at: 'timestamptz',
  result: 'json',
  error: 'json',
  files_expire_at: 'timestamptz',
  usage: 'json',
  kept_at: 'timestamptz',
  collection: 'text',
};

/** SQL: the shown columns that `tasks_live` lacks, as nulls. */
export const NOTHING_OF_END = Object.entries(OF_END)
  .map(([column, type]) => `null::${type} as ${column}`)
  .join(', ');

/** SQL: the shown columns, for a statement that returns rows `t` of `tasks_live`. */
export const SHOWN_OF_LIVE = `${SHOWN.filter((column) => !OF_END[column])
  .map((column) => `t.${column}`)
  .join(', ')}, ${NOTHING_OF_END}`;

/** @param row of `Sql.runForValues`, which begins with `SHOWN_COLUMNS` */
export function toShownTask(row: readonly unknown[]): ShownTask {
  let at = 0;
  return shownTask(() => row[at++] as never);
}

/** The columns whose values a creation sends and its insert stores unchanged, with their types. */
export const CREATED = {
  id: 'text',
  kind: 'text',
  model: 'text',
  model_version: 'text',
  input: 'json',
  metadata: 'jsonb',
  parent_task_id: 'text',
  relation: 'text',
  request_approximations: 'json',
  run_deadline_s: 'real',
  file_retention_s: 'float8',
  request_id: 'text',
  trace_parent: 'text',
} satisfies Partial<Record<keyof Task, string>>;

/**
 * Whether something that began at `begunAt` began before the restored backup was made. What the service did for it
 * after the backup is then unknown: a paid call may have been made, or the end may have been reported.
 */
export const isRestored = ({ restoredFrom }: Pick<Config, 'restoredFrom'>, begunAt: Date): boolean =>
  restoredFrom !== null && begunAt <= restoredFrom;
