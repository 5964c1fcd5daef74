import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { BatchFault } from './batch-fault.ts';
import type { BatchStatus } from './batch-status.ts';

/**
 * Generations that were created together. The items of a batch are its tasks (`batch_id`), and the invalid items, which
 * have no task. The statements in `sql/` write this table.
 */
@Entity('batches')
export class Batch {
  /** `batch_` + 26 characters, time-ordered. The ids of the batch's tasks contain the same time. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  @Column('text') endpoint: string;
  @Column('text') status: BatchStatus;
  @Column('text', { nullable: true }) input_file_id: string | null;
  @Column('jsonb') metadata: Record<string, string>;
  /** The number of all items, including the invalid ones. */
  @Column('integer') total: number;
  /**
   * `succeeded`, `failed` and `cancelled` count the items whose tasks are deleted. The other valid items are counted
   * from their tasks, so the end of a task does not write to this row. Once the batch has ended, the three columns
   * count all valid items, so a read of the batch counts no tasks.
   */
  @Column('integer') succeeded: number;
  @Column('integer') failed: number;
  @Column('integer') cancelled: number;
  @Column('integer') invalid_items: number;
  /** All invalid items; null if there are none. */
  @Column('json', { nullable: true }) invalid: BatchFault[] | null;
  /** The first MAX_SHOWN_FAULTS invalid items, which clients see; null if there are none. */
  @Column('json', { nullable: true }) errors: BatchFault[] | null;
  /** The id of the request that created the batch. */
  @Column('text', { nullable: true }) request_id: string | null;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz', { nullable: true }) cancelling_at: Date | null;
  /** When the batch ended, soon after its last item was final; null until then. */
  @Column('timestamptz', { nullable: true }) ended_at: Date | null;
  /** The record is deleted after this time. */
  @Column('timestamptz') kept_until: Date;
}

/** What the items of a batch used, summed from the ledger. */
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
  /** null until the batch has ended */
  usage: BatchUsage | null;
};
