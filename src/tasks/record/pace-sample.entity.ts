import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How many tasks of a model one process has started and ended within 5 seconds. Kept for a little over an hour. */
@Entity('pace_samples')
export class PaceSample {
  @PrimaryColumn('timestamptz') starts_at: Date;
  @PrimaryColumn('text') worker_id: string;
  @PrimaryColumn('text') model: string;
  @Column('integer') started: number;
  @Column('integer') succeeded: number;
  /** Failed tasks, without those that were cancelled and those whose content was refused. */
  @Column('integer') failed: number;
}
