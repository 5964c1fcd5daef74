import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * When an operator last closed the circuits of a place. Every process closes its own circuits when this time has
 * changed.
 */
@Entity('circuit_resets')
export class CircuitReset {
  /** The place: provider, address and name of the credential. */
  @PrimaryColumn('text') endpoint: string;
  @Column('timestamptz') reset_at: Date;
}
