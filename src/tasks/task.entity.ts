import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TaskError } from './task-error.ts';
import type { MediaKind } from '../models/media-kind.ts';
import type { TaskStatus } from './task-status.ts';

/** A stored file of a finished generation. Without its link, which is signed at each read. */
export interface StoredOutput {
  /** `file_` + the task's 26 characters + `_` + index */
  id: string;
  index: number;
  type: 'image' | 'video';
  storage_key: string;
  content_type: string;
  size_bytes: number;
  /** Pixels. */
  width: number;
  height: number;
  /** Seconds; videos only. */
  duration?: number;
  /** Hex. */
  sha256: string;
}

/** A requested value that the provider could only approximate. */
export interface Approximation {
  param: string;
  requested: string | number;
  used: string | number;
}

/**
 * The task as stored: the single source of truth. Property and column names are the same, so a row read by raw SQL also has
 * this type. The statements that write it are in `sql/`.
 */
@Entity('tasks')
export class Task {
  /** `task_` + 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  @Column('text') kind: MediaKind;
  @Column('text') model: string;
  @Column('text') status: TaskStatus;
  /** Percent. */
  @Column('smallint') progress: number;
  /** Rises by one with every visible change. */
  @Column('integer') sequence: number;
  @Column('json') input: Record<string, unknown>;
  @Column('jsonb') metadata: Record<string, string>;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz', { nullable: true }) started_at: Date | null;
  @Column('timestamptz', { nullable: true }) completed_at: Date | null;
  /** The sweep ends the task after this time. It counts from the creation while the task waits, and again from its first start. */
  @Column('timestamptz') deadline_at: Date;
  /** The record is deleted after this time. */
  @Column('timestamptz') expires_at: Date;

  /** Number of the current claim. Every write of a worker names it, so a late worker changes nothing. */
  @Column('integer') attempt: number;
  /** Claims that ended in an expired lease. */
  @Column('smallint') losses: number;
  /** End of the worker's lease while running; otherwise null. */
  @Column('timestamptz', { nullable: true }) lease_until: Date | null;
  @Column('text', { nullable: true }) worker_id: string | null;
  /** Queued but throttled: its API key is at its limit of running tasks. The key's next task to end unparks it. */
  @Column('boolean') parked: boolean;
  /** Lower numbers are claimed first. */
  @Column('smallint') priority: number;

  @Column('text', { nullable: true }) provider: string | null;
  /** Base URL that was called. With provider and credential it identifies the binding that must continue after a crash. */
  @Column('text', { nullable: true }) provider_url: string | null;
  /** The provider's own name for the model that was called; null in tasks submitted before this column existed. */
  @Column('text', { nullable: true }) provider_model: string | null;
  /** Name of the environment variable that holds the provider's key, never its value. */
  @Column('text', { nullable: true }) credential: string | null;
  /** When the intent to make the paid call was committed. */
  @Column('timestamptz', { nullable: true }) submitted_at: Date | null;
  @Column('text', { nullable: true }) upstream_id: string | null;
  @Column('text', { nullable: true }) upstream_request_id: string | null;
  @Column('json', { nullable: true }) approximations: Approximation[] | null;

  @Column('json', { nullable: true }) result: StoredOutput[] | null;
  @Column('json', { nullable: true }) error: TaskError | null;
  /** The files of `result` are deleted after this time; null without files. */
  @Column('timestamptz', { nullable: true }) files_expire_at: Date | null;
  @Column('boolean') files_purged: boolean;
  /** Reserved by a worker that deletes what has expired of this task, until then. */
  @Column('timestamptz', { nullable: true }) purge_after: Date | null;
}

const SHOWN = [
  'id',
  'api_key_id',
  'kind',
  'model',
  'status',
  'progress',
  'sequence',
  'attempt',
  'input',
  'metadata',
  'created_at',
  'started_at',
  'completed_at',
  'expires_at',
  'approximations',
  'result',
  'error',
  'files_expire_at',
] as const;

/**
 * The columns that clients see, plus the owner and the claim, which subscribers need. The other columns are for workers:
 * reading them too would make a list of tasks a seventh slower.
 */
export type ShownTask = Pick<Task, (typeof SHOWN)[number]>;

/** For a `select`. */
export const SHOWN_COLUMNS = SHOWN.join(', ');
