import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Unfinished tasks of all API keys at the start of a minute. */
@Entity('queue_samples')
export class QueueSample {
  @PrimaryColumn('timestamptz') minute: Date;
  /** Queued tasks of keys that may run more tasks. */
  @Column('integer') waiting: number;
  /** Queued tasks of keys that run as many tasks as they may. */
  @Column('integer') parked: number;
  @Column('integer') running: number;
}
