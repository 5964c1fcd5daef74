import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ProcessActivity } from '../activity/activity.ts';

/** A circuit breaker as one process sees it. */
export interface ProcessCircuit {
  /** The number, from 1, of the place: an address of a provider with one credential. */
  place: number;
  provider: string;
  open: boolean;
  /** Failures in a row. */
  failures: number;
}

/** One running process. It renews its row every few seconds, and deletes it when it stops. */
@Entity('processes')
export class ProcessRow {
  /** The same id is the `worker_id` of the tasks that the process has claimed. */
  @PrimaryColumn('text') id: string;
  @Column('text') role: 'all' | 'api' | 'worker';
  @Column('text') version: string;
  @Column('text') host: string;
  @Column('timestamptz') started_at: Date;
  @Column('timestamptz') last_seen_at: Date;
  /**
   * The maximum number of concurrent tasks in the process, without those that only poll a provider; 0 for a process
   * without a worker.
   */
  @Column('integer') slots: number;
  /** Running tasks, including those that only poll a provider. */
  @Column('integer') busy: number;
  /** Whether an operator wants the process to claim no more tasks. */
  @Column('boolean') drain_requested: boolean;
  /** Whether the process reports that it claims no more tasks. */
  @Column('boolean') draining: boolean;
  /**
   * The shortest time, in seconds, that a task lease had left when the process last renewed its leases; null before the
   * first renewal.
   */
  @Column('real', { nullable: true }) lease_margin_s: number | null;
  @Column('jsonb') circuits: ProcessCircuit[];
  /** Empty before the first report, and for a process of an older release. */
  @Column('jsonb') activity: Partial<ProcessActivity>;
}
