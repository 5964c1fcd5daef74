import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How long the last 200 successful runs of one kind took, in all processes. */
@Entity('run_times')
export class RunTimes {
  @PrimaryColumn('text') model: string;
  /** Empty for a model without resolutions. */
  @PrimaryColumn('text') resolution: string;
  /** Pictures or seconds of film. 0 with an empty resolution stands for all runs of the model. */
  @PrimaryColumn('integer') n: number;
  /** Milliseconds from start to end, the newest last. */
  @Column('integer', { array: true }) run_ms: number[];
  /**
   * Milliseconds from creation to start, of the newest of the same runs. After an upgrade there are fewer entries than
   * in `run_ms` for a while.
   */
  @Column('integer', { array: true }) wait_ms: number[];
}
