import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The one row of this table. A migration inserts it, so that all processes write the same marker at the first start.
 */
@Entity('storage_marker')
export class StorageMarker {
  /** Content of the marker in storage. */
  @PrimaryColumn('text') id: string;
  /** null until the marker is in storage. */
  @Column('timestamptz', { nullable: true }) written_at: Date | null;
}
