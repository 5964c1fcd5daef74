import { Entity, PrimaryColumn } from 'typeorm';

/**
 * A value of metadata that has sums of its own on a day, or a name of metadata if `metadata_key` is empty. Written by
 * sql/roll-up.ts.
 */
@Entity('usage_values')
export class UsageValue {
  /** The day in UTC. */
  @PrimaryColumn('date') day: string;
  @PrimaryColumn('text') api_key_id: string;
  @PrimaryColumn('text') metadata_key: string;
  @PrimaryColumn('uuid') value_hash: string;
}
