import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TaskError } from './task-error.ts';
import type { MediaKind } from '../models/media-kind.ts';
import type { TaskStatus } from './task-status.ts';

/** What a finished generation left in storage, without the links: those are signed anew at each read. */
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

/** A value a provider could only come near to. */
export interface Approximation {
  param: string;
  requested: string | number;
  used: string | number;
}

/**
 * The task as stored: the one record that decides. Property and column names are the same, so a row read by plain SQL
 * is this type too. Which statement writes what is in `acts/`.
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
  /** The task is final by then. */
  @Column('timestamptz') deadline_at: Date;
  /** The record is deleted then. */
  @Column('timestamptz') expires_at: Date;

  /** Which claim holds the task: every write of a worker names it, so a late worker changes nothing. */
  @Column('integer') attempt: number;
  /** How many claims ended in a lost lease. */
  @Column('smallint') losses: number;
  /** The worker's lease while running; otherwise null. */
  @Column('timestamptz', { nullable: true }) lease_until: Date | null;
  @Column('text', { nullable: true }) worker_id: string | null;
  /** Queued, but not to be taken: its key runs as many tasks as it may. The next one of the key to end wakes it. */
  @Column('boolean') parked: boolean;
  /** Smaller first. */
  @Column('smallint') priority: number;

  @Column('text', { nullable: true }) provider: string | null;
  /** The base URL asked: with the provider and the credential it says which binding must go on after a crash. */
  @Column('text', { nullable: true }) provider_url: string | null;
  /** The provider's own name of the model asked for; null in tasks submitted before this was noted. */
  @Column('text', { nullable: true }) provider_model: string | null;
  /** The name of the environment variable, never its value. */
  @Column('text', { nullable: true }) credential: string | null;
  /** When the intent to call the provider was committed. */
  @Column('timestamptz', { nullable: true }) submitted_at: Date | null;
  @Column('text', { nullable: true }) upstream_id: string | null;
  @Column('text', { nullable: true }) upstream_request_id: string | null;
  @Column('json', { nullable: true }) approximations: Approximation[] | null;

  @Column('json', { nullable: true }) result: StoredOutput[] | null;
  @Column('json', { nullable: true }) error: TaskError | null;
  /** The files of `result` are deleted then; null without files. */
  @Column('timestamptz', { nullable: true }) files_expire_at: Date | null;
  @Column('boolean') files_purged: boolean;
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
 * What clients are shown of a task, whose it is, and by which claim it is held, for who follows it. The rest is for workers: reading
 * it too would cost a list of tasks a seventh more.
 */
export type ShownTask = Pick<Task, (typeof SHOWN)[number]>;

/** For a `select`. */
export const SHOWN_COLUMNS = SHOWN.join(', ');
