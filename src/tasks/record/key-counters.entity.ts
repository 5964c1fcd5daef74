import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * How many queued and running tasks each API key has. These two counts are exact, because every state change updates
 * them in the same commit. Counting rows instead would make a creation slower, the longer the backlog of the key is.
 */
@Entity('key_load')
export class KeyCounters {
  @PrimaryColumn('text') api_key_id: string;
  @Column('integer') queued: number;
  @Column('integer') running: number;
  /** Running tasks that leave their place to others while they wait for their provider or the end of a pause. */
  @Column('integer') held: number;
  /** The limit of running tasks when the key last created a task, or when its limits last changed; 0 = unlimited. */
  @Column('integer') max_running: number;
  /** Tasks of low priority among the queued and running ones. */
  @Column('integer') low: number;
  /** Where the key's last task of normal priority ends in the line. */
  @Column('bigint') place: string;
  /** The same for low priority. */
  @Column('bigint') low_place: string;
  /** Queued tasks of the keys below this one that count for it. */
  @Column('integer') below_queued: number;
  /** Running tasks of the keys below this one, without those that are held. */
  @Column('integer') below_running: number;
  /** Limits that the key shares with the keys below it; 0 = none. Written with the row, and when the limits change. */
  @Column('integer') shared_queued: number;
  @Column('integer') shared_running: number;
  /** The keys above that last counted a task of this key; null if there were none. */
  @Column('text', { array: true, nullable: true }) above: string[] | null;
}
