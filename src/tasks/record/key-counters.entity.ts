import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * How many queued and running tasks each API key has. The counts are exact, since every state change updates them in
 * the same commit. Counting rows instead would make a create as expensive as the key's backlog is long.
 */
@Entity('key_load')
export class KeyCounters {
  @PrimaryColumn('text') api_key_id: string;
  @Column('integer') queued: number;
  @Column('integer') running: number;
  /** Those of the running ones that leave their place to others while they wait for their provider. */
  @Column('integer') held: number;
  /** The key's limit when it last created a task; 0 = unlimited. */
  @Column('integer') max_running: number;
  /** Tasks of low priority among the queued and running ones. */
  @Column('integer') low: number;
  /** Where its last task of normal priority ends in the line. */
  @Column('bigint') place: string;
  /** The same of low priority. */
  @Column('bigint') low_place: string;
  /** Queued tasks of the keys below this one that count for it. */
  @Column('integer') below_queued: number;
  /** Running tasks of theirs, without those that are held. */
  @Column('integer') below_running: number;
  /** Limits that the key shares with those below it: its own ones when one of them last created a task; 0 = none. */
  @Column('integer') shared_queued: number;
  @Column('integer') shared_running: number;
  /** The keys above that counted the last task which the key created; null: none. */
  @Column('text', { array: true, nullable: true }) above: string[] | null;
}
