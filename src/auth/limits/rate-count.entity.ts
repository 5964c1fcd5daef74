import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RateBucket } from '../access/caller.ts';

/** The requests of one key in its current window, counted over all processes. Written by sql/lease-rate-points.ts. */
@Entity('rate_windows')
export class RateCount {
  @PrimaryColumn('text') api_key_id: string;
  @PrimaryColumn('text') bucket: RateBucket;
  @Column('timestamptz') ends_at: Date;
  /** The points that processes have requested. May exceed the limit. A bigint, which the driver returns as text. */
  @Column('bigint') taken: string;
}
