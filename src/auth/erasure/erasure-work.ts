import type { Tx } from '../../platform/database/sql.ts';
import { ErasureLost, type ErasureRows, type TakenErasure } from './sql/erasure-rows.ts';
import type { Erased, ErasureCounts, LastStep } from './erasure-step.ts';

export interface ErasedPiece {
  erased: ErasureCounts;
  /** The piece reached its maximum number of rows, so there may be more rows. */
  mayBeMore?: boolean;
}

/** An erasure while this process carries it out. */
export class ErasureWork {
  private counts: ErasureCounts;
  private step: LastStep | null;
  private readAsFarAs: string | null;
  private hasErasedSome = false;

  constructor(
    private readonly rows: ErasureRows,
    private readonly taken: TakenErasure,
    private readonly isStopping: () => boolean,
  ) {
    this.counts = taken.counts;
    this.step = taken.step;
    this.readAsFarAs = taken.cursor;
  }

  get apiKeyId(): string {
    return this.taken.api_key_id;
  }

  /** How far the current step has read its table, in this process or an earlier one. null: nothing is read yet. */
  get cursor(): string | null {
    return this.readAsFarAs;
  }

  /** Whether anything was erased since this process took the erasure. */
  get hasErased(): boolean {
    return this.hasErasedSome;
  }

  /**
   * Writes one bounded piece. Its changes, the counts, the cursor and the renewed lease are one commit.
   * @throws ErasureLost: another process has taken over, or this process stops
   */
  async commit(write: (tx: Tx) => Promise<ErasedPiece>, cursor = this.readAsFarAs): Promise<ErasedPiece> {
    if (this.isStopping()) throw new ErasureLost('This process stops.');
    const { counts, piece } = await this.rows.commit(this.taken, async (tx) => {
      const piece = await write(tx);
      return { counts: sum(this.counts, piece.erased), step: this.step, cursor, piece };
    });
    this.hasErasedSome ||= JSON.stringify(counts) !== JSON.stringify(this.counts);
    this.counts = counts;
    this.readAsFarAs = cursor;
    return piece;
  }

  /** Writes pieces of the same kind, until a piece finds fewer rows than it could take. */
  async repeat(write: (tx: Tx) => Promise<ErasedPiece>): Promise<void> {
    for (let piece = await this.commit(write); piece.mayBeMore;) piece = await this.commit(write);
  }

  /** Begins one of the last steps, unless this step has begun already, here or in an earlier process. */
  async begin(step: LastStep): Promise<void> {
    if (this.step === step) return;
    this.step = step;
    await this.commit(async () => ({ erased: {} }), null);
  }
}

function sum(counts: ErasureCounts, erased: ErasureCounts): ErasureCounts {
  const added = Object.entries(erased).filter(([, count]) => count > 0) as [Erased, number][];
  return added.reduce((all, [what, count]) => ({ ...all, [what]: (all[what] ?? 0) + count }), counts);
}
