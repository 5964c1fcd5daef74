import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * When an operator last closed the circuits of a place. Every process compares this time with the last one that it has
 * read.
 */
@Entity('circuit_resets')
export class CircuitReset {
  /** The place: provider, address and name of the credential. */
  @PrimaryColumn('text') endpoint: string;
  @Column('timestamptz') reset_at: Date;
}
