import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A restore after which webhooks were held. Written by webhooks/sql/hold-restored.ts. */
@Entity('restorations')
export class Restoration {
  /** RESTORED_FROM. */
  @PrimaryColumn('timestamptz') restored_from: Date;
  /** Deliveries that wait for a replay. */
  @Column('integer') held: number;
  @Column('timestamptz') created_at: Date;
}
