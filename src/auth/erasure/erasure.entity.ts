import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ErasureCounts, LastStep } from './erasure-step.ts';

/**
 * The erasure of an API key. It holds ids and numbers, none of the key's texts. A worker process carries it out in
 * pieces.
 */
@Entity('erasures')
export class Erasure {
  /** `erasure_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  /** How much of each kind of data is erased so far. */
  @Column('jsonb') counts: ErasureCounts;
  /** The last of LAST_STEPS that has begun. null: ROUND_STEPS are still repeated, or the erasure has finished. */
  @Column('text', { nullable: true }) step: LastStep | null;
  /** The id up to which `step` has read its table. null: nothing is read yet. */
  @Column('text', { nullable: true }) cursor: string | null;
  @Column('timestamptz') created_at: Date;
  /** The acting API key; null: the command line. */
  @Column('text', { nullable: true }) created_by: string | null;
  @Column('timestamptz', { nullable: true }) finished_at: Date | null;
  /**
   * Rises each time a process takes the erasure. Every write names the attempt, so the process of an earlier attempt
   * changes nothing.
   */
  @Column('integer') attempt: number;
  /** Until this time no other process takes the erasure. null: no process has taken it yet, or it has finished. */
  @Column('timestamptz', { nullable: true }) lease_until: Date | null;
}
