import { Entity, PrimaryColumn } from 'typeorm';

/**
 * A value of metadata that has sums of its own on a day. If `metadata_key` is empty, it is a name of metadata instead.
 * sql/roll-up.ts writes the table.
 */
@Entity('usage_values')
export class UsageValue {
  /** The day in UTC. */
  @PrimaryColumn('date') day: string;
  @PrimaryColumn('text') api_key_id: string;
  @PrimaryColumn('text') metadata_key: string;
  @PrimaryColumn('uuid') value_hash: string;
}
