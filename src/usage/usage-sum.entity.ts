import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The ledger, summed by quarter of an hour and by day in UTC. A row with a `metadata_key` covers a quarter, and sums
 * only the tasks with one value of this metadata. If a key has too many values in a day, the further ones are summed
 * together. Each row of the ledger is added once.
 */
@Entity('usage_sums')
export class UsageSum {
  @PrimaryColumn('text') api_key_id: string;
  @PrimaryColumn('text') span: 'quarter' | 'day';
  /** Empty in the sums of all tasks. */
  @PrimaryColumn('text') metadata_key: string;
  @PrimaryColumn('timestamptz') starts_at: Date;
  /** Hash of the columns from `kind` to `metadata_value`. */
  @PrimaryColumn('uuid') dimensions: string;
  @Column('text') kind: string;
  @Column('text') model: string;
  @Column('text', { nullable: true }) provider: string | null;
  @Column('text', { nullable: true }) resolution: string | null;
  @Column('text') source: string;
  @Column('text', { nullable: true }) batch_id: string | null;
  @Column('text', { nullable: true }) error_code: string | null;
  @Column('text', { nullable: true }) metadata_value: string | null;
  @Column('bigint') tasks: string;
  @Column('bigint') succeeded: string;
  @Column('bigint') failed: string;
  @Column('bigint') cancelled: string;
  @Column('bigint') images: string;
  @Column('bigint') video_seconds: string;
  @Column('bigint') submits: string;
  @Column('bigint') cost_micros: string;
  @Column('bigint') assumed_micros: string;
  @Column('bigint') unpriced_tasks: string;
}
