import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A restore after which webhooks were held. Written by webhooks/sql/hold-restored.ts. */
@Entity('restorations')
export class Restoration {
  /** The value of RESTORED_FROM. */
  @PrimaryColumn('timestamptz') restored_from: Date;
  /** The number of deliveries that the restore held back. */
  @Column('integer') held: number;
  @Column('timestamptz') created_at: Date;
}
