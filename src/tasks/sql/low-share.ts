/** The turns of tasks of low priority in one claim. If no task of low priority takes a turn, a normal task gets it. */
export interface LowTurns {
  /** Most turns of the claim. */
  turns: number;
  /** Percent gathered since the last turn. They say how soon the first turn comes. */
  gathered: number;
  /** Percent of the starts that go to low priority. */
  share: number;
}

/** The most that is gathered while no low task starts. With the next start it gives one turn at once, and not two. */
const MOST_GATHERED = 99;

/**
 * Gives turns to tasks of low priority: with a share of 10 percent, one after every nine starts of normal tasks. It
 * counts the starts of one process, so over all processes the share is the same. It counts in whole numbers, because 9
 * times 1/9 is less than 1.
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
   * Turns are not saved up: after a time without low tasks, the first low task gets one turn at once, and no more. Low
   * tasks that start while no normal task waits use up no turn.
   * @param missed whether low tasks may have waited without a turn; then the next claim makes up for it
   */
  count({ normal, low }: { normal: number; low: number }, missed = false): void {
    const gathered = this.gathered + this.share * normal - (100 - this.share) * low;
    this.gathered = Math.min(Math.max(gathered, 0), missed || low > 0 ? Infinity : MOST_GATHERED);
  }
}
