import { Column, Entity, PrimaryColumn } from 'typeorm';

/** When an operator last closed the circuits of a place. Every process compares it with the last time that it read. */
@Entity('circuit_resets')
export class CircuitReset {
  /** The place: provider, address and name of the credential. */
  @PrimaryColumn('text') endpoint: string;
  @Column('timestamptz') reset_at: Date;
}
