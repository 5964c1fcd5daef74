import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { TaskSource } from './task-origin.ts';
import type { CostBasis } from './task-usage.ts';

/**
 * What one task used: one row a task, written by the statement that ends the task and kept when the task is deleted.
 * Only `rolled_up` changes, and once the cost with its basis, if the provider confirms a cancel after the end.
 */
@Entity('usage_ledger')
export class UsageRow {
  @PrimaryColumn('text') task_id: string;
  @Column('text') api_key_id: string;
  @Column('timestamptz') completed_at: Date;
  @Column('text') outcome: 'succeeded' | 'failed' | 'cancelled';
  /** Of a failed task; null for the others, and in rows of an earlier release. */
  @Column('text', { nullable: true }) error_code: string | null;
  @Column('text') kind: MediaKind;
  @Column('text') model: string;
  @Column('text', { nullable: true }) provider: string | null;
  @Column('text', { nullable: true }) resolution: string | null;
  @Column('text') source: TaskSource;
  /** The batch that the task was an item of. */
  @Column('text', { nullable: true }) batch_id: string | null;
  /** Null when the task has none. */
  @Column('jsonb', { nullable: true }) metadata: Record<string, string> | null;
  /** Delivered. */
  @Column('integer') images: number;
  /** Delivered, in whole seconds. */
  @Column('integer') video_seconds: number;
  @Column('integer') submits: number;
  @Column('bigint') cost_micros: string;
  @Column('text') basis: CostBasis;
  /** Whether `usage_sums` contains it. */
  @Column('boolean') rolled_up: boolean;
}
