import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RateBucket } from '../access/caller.ts';

/**
 * The points of one rate limit of a key that processes have leased in the current window. Written by
 * sql/lease-rate-points.ts.
 */
@Entity('rate_windows')
export class RateCount {
  @PrimaryColumn('text') api_key_id: string;
  @PrimaryColumn('text') bucket: RateBucket;
  @Column('timestamptz') ends_at: Date;
  /** The points that processes have requested. May exceed the limit. A bigint, which the driver returns as text. */
  @Column('bigint') taken: string;
}
