import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ProcessActivity } from '../activity/activity.ts';

/** A circuit breaker as one process sees it. */
export interface ProcessCircuit {
  /** Number of the endpoint among all that are bound, from 1. */
  place: number;
  provider: string;
  open: boolean;
  /** In a row. */
  failures: number;
}

/** One running process. It renews its row every few seconds, and deletes it when it stops. */
@Entity('processes')
export class ProcessRow {
  /** The worker id in the record of the tasks that it has claimed. */
  @PrimaryColumn('text') id: string;
  @Column('text') role: 'all' | 'api' | 'worker';
  @Column('text') version: string;
  @Column('text') host: string;
  @Column('timestamptz') started_at: Date;
  @Column('timestamptz') last_seen_at: Date;
  /** Most tasks at once, without those that only poll; 0 without a worker. */
  @Column('integer') slots: number;
  /** Tasks that it runs, with those that only poll. */
  @Column('integer') busy: number;
  /** An operator wants it to claim nothing more. */
  @Column('boolean') drain_requested: boolean;
  /** It claims nothing more, as it says itself. */
  @Column('boolean') draining: boolean;
  /** Least seconds that a lease had left at the last renewal; null: none was renewed yet. */
  @Column('real', { nullable: true }) lease_margin_s: number | null;
  @Column('jsonb') circuits: ProcessCircuit[];
  /** Empty for a process of the last release, and until the first is published. */
  @Column('jsonb') activity: Partial<ProcessActivity>;
}
