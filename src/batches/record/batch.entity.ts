import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { BatchFault } from './batch-fault.ts';
import type { BatchStatus } from './batch-status.ts';

/**
 * A batch: what its tasks have in common. Its items are the tasks that name it, and the invalid ones, which never
 * became tasks. The statements that write it are in `sql/`.
 */
@Entity('batches')
export class Batch {
  /** `batch_` + 26 characters, time-ordered. The ids of its tasks contain the same time. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  @Column('text') endpoint: string;
  @Column('text') status: BatchStatus;
  @Column('text', { nullable: true }) input_file_id: string | null;
  @Column('jsonb') metadata: Record<string, string>;
  /** Items, the invalid ones too. */
  @Column('integer') total: number;
  /**
   * Items that are not counted from their tasks: those whose record is deleted, and all of them once the batch has
   * ended. So a batch that has ended costs no count, and no end of a task writes to the row of its batch.
   */
  @Column('integer') succeeded: number;
  @Column('integer') failed: number;
  @Column('integer') cancelled: number;
  @Column('integer') invalid_items: number;
  /** All invalid items; null without any. */
  @Column('json', { nullable: true }) invalid: BatchFault[] | null;
  /** The first invalid items, for the view. */
  @Column('json', { nullable: true }) errors: BatchFault[] | null;
  /** Of the request that created the batch. */
  @Column('text', { nullable: true }) request_id: string | null;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz', { nullable: true }) cancelling_at: Date | null;
  /** When every item was final. */
  @Column('timestamptz', { nullable: true }) ended_at: Date | null;
  /** The record is deleted after this time. */
  @Column('timestamptz') kept_until: Date;
}

/** What the items of a batch used, as the ledger has it. */
export interface BatchUsage {
  images: number;
  video_seconds: number;
  submits: number;
  cost_micros: number;
  assumed_micros: number;
  unpriced_tasks: number;
}

/** The batch as it is now, with the counts of all its items. */
export type ShownBatch = Omit<Batch, 'invalid' | 'request_id'> & {
  queued: number;
  running: number;
  /** Null until the end. */
  usage: BatchUsage | null;
};
