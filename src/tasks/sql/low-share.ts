/** The turns of tasks of low priority in one claim. If no task of low priority waits, a normal task gets the turn. */
export interface LowTurns {
  /** Most turns of the claim. */
  turns: number;
  /** Percent of a turn that earlier starts have gathered. The more, the sooner the first turn of this claim comes. */
  gathered: number;
  /** Percent of the starts that go to low priority. */
  share: number;
}

/**
 * The most percent that are gathered while no low task starts. The next start then gives one turn at once, and not two.
 */
const MOST_GATHERED = 99;

/**
 * Gives turns to tasks of low priority: with a share of 10 percent, one turn after every nine starts of normal tasks.
 * Each process counts its own starts, so the share over all processes is the same. The numbers are whole percents,
 * because 0.1 added ten times in floating point is less than 1.
 */
export class LowShare {
  /** Rises by `share` with each start, and falls by 100 with each start of a low task. */
  private gathered = 0;

  constructor(private readonly share: number) {}

  /** @param starts most starts of the claim */
  next(starts: number): LowTurns {
    const turns = Math.floor((this.gathered + this.share * starts) / 100);
    return { turns, gathered: this.gathered, share: this.share };
  }

  /**
   * Counts the starts of a claim. Turns are not saved up: after a time without low tasks, the first low task gets one
   * turn at once, and no more. Low tasks that start while no normal task waits use up no turn.
   * @param missed whether low tasks may have waited without a turn; the next claim then makes up for it
   */
  count({ normal, low }: { normal: number; low: number }, missed = false): void {
    const gathered = this.gathered + this.share * normal - (100 - this.share) * low;
    this.gathered = Math.min(Math.max(gathered, 0), missed || low > 0 ? Infinity : MOST_GATHERED);
  }
}
