import { Column, Entity, PrimaryColumn } from 'typeorm';

export const PURPOSES = ['vision', 'user_data', 'batch'] as const;
export type Purpose = (typeof PURPOSES)[number];

export const FILE_STATUSES = ['pending', 'processed'] as const;
export type FileStatus = (typeof FILE_STATUSES)[number];

/**
 * A file that a client has uploaded, is about to upload, or has sent inside a request. Outputs of tasks have no row:
 * their ids contain the id of the task.
 */
@Entity('uploads')
export class Upload {
  /** `file_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  @Column('text') purpose: Purpose;
  @Column('text') status: FileStatus;
  /** The name that the client gave; only shown. */
  @Column('text') filename: string;
  /** The type of the bytes once processed; before that the declared type. */
  @Column('text') content_type: string;
  /** The size once processed; before that the declared size. */
  @Column('integer') bytes: number;
  /** Hex; null while pending. */
  @Column('text', { nullable: true }) sha256: string | null;
  /** Hex; the hash that the client declared for a direct upload; null if none. */
  @Column('text', { nullable: true }) declared_sha256: string | null;
  /** Pixels; null unless it is a processed image. */
  @Column('integer', { nullable: true }) width: number | null;
  @Column('integer', { nullable: true }) height: number | null;
  /** The row of the bytes; null once the purge has released the bytes of an expired upload. */
  @Column('text', { nullable: true }) blob_id: string | null;
  /** Seconds that the file is kept once processed. */
  @Column('integer') lifetime_s: number;
  @Column('timestamptz') created_at: Date;
  /** The file cannot be used after this time. */
  @Column('timestamptz') expires_at: Date;
  /**
   * The bytes stay until this time, because a task that may be unfinished needs them. null: no task has needed them.
   */
  @Column('timestamptz', { nullable: true }) needed_until: Date | null;
  /**
   * When the owner deleted the file, or no task was created for its request. From then on the API does not know its id.
   * null: neither has happened.
   */
  @Column('timestamptz', { nullable: true }) deleted_at: Date | null;
  /**
   * The file came inside a request, and is deleted with the files of its task. It is not listed, and counts against a
   * quota of its own.
   */
  @Column('boolean') of_task: boolean;
  /** The task of a file that came inside a request; null until the task is created. */
  @Column('text', { nullable: true }) task_id: string | null;
}
