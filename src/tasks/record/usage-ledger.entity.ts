import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { TaskSource } from './task-origin.ts';
import type { CostBasis } from './task-usage.ts';

/**
 * What one task used. The statement that ends the task writes the row, which stays when the task is deleted. Three
 * columns change later. `rolled_up` is set once the sums contain the row. An erasure removes `metadata`. A provider
 * that confirms a cancel after the end lowers `cost_micros`.
 */
@Entity('usage_ledger')
export class UsageRow {
  @PrimaryColumn('text') task_id: string;
  @Column('text') api_key_id: string;
  @Column('timestamptz') completed_at: Date;
  @Column('text') outcome: 'succeeded' | 'failed' | 'cancelled';
  /** The error of a failed task; null for other tasks, and in rows of an earlier release. */
  @Column('text', { nullable: true }) error_code: string | null;
  @Column('text') kind: MediaKind;
  @Column('text') model: string;
  @Column('text', { nullable: true }) provider: string | null;
  @Column('text', { nullable: true }) resolution: string | null;
  @Column('text') source: TaskSource;
  /** The batch that the task was an item of; null if there was none. */
  @Column('text', { nullable: true }) batch_id: string | null;
  /** null when the task had no metadata, and after an erasure. */
  @Column('jsonb', { nullable: true }) metadata: Record<string, string> | null;
  /** Delivered images. */
  @Column('integer') images: number;
  /** Delivered video, in whole seconds. */
  @Column('integer') video_seconds: number;
  @Column('integer') submits: number;
  @Column('bigint') cost_micros: string;
  @Column('text') basis: CostBasis;
  /** Whether `usage_sums` contains the row. */
  @Column('boolean') rolled_up: boolean;
}
