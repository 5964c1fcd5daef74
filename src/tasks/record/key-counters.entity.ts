import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * How many queued and running tasks each API key has. These two counts are exact, because every state change updates
 * them in the same commit. Counting rows instead would make a creation slow for a key with many unfinished tasks. Keys
 * above are the maker of the key, its maker and so on; keys below are those that it has made, directly or not.
 */
@Entity('key_load')
export class KeyCounters {
  @PrimaryColumn('text') api_key_id: string;
  @Column('integer') queued: number;
  @Column('integer') running: number;
  /**
   * Running tasks that do not count towards `max_running`, while they wait for their provider or the end of a pause.
   */
  @Column('integer') held: number;
  /** The limit of running tasks when the key last created a task, or when its limits last changed; 0 = unlimited. */
  @Column('integer') max_running: number;
  /** Tasks of low priority among the queued and running ones. */
  @Column('integer') low: number;
  /** The place in the line at which the key's last task of normal priority ends (sql/admission.ts). */
  @Column('bigint') place: string;
  /** The place in the line of low priority at which the key's last task ends. */
  @Column('bigint') low_place: string;
  /** Queued tasks of the keys below that count for this key too. */
  @Column('integer') below_queued: number;
  /** Running tasks of the keys below that count for this key, without those that are held. */
  @Column('integer') below_running: number;
  /**
   * The limit of queued tasks that the key shares with the keys below it; 0 = none. Set when the row is created, and
   * when the limits change. `shared_running` is the same for running tasks.
   */
  @Column('integer') shared_queued: number;
  @Column('integer') shared_running: number;
  /** The keys above that last counted a task of this key; null if there were none. */
  @Column('text', { array: true, nullable: true }) above: string[] | null;
}
