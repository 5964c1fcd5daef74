import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A table in partitions of time. No row: nothing of it is dropped yet. */
@Entity('partitioned_tables')
export class PartitionedTable {
  @PrimaryColumn('text') name: string;
  /** Rows of smaller ids are not deleted one by one: their partition is dropped. */
  @Column('text') dropped_below: string;
}
