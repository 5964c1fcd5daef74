/** The fields of a waiting task that decide its position among tasks of the same priority. */
export interface Waiting {
  place: number;
  id: string;
}

/** Waiting tasks of one priority, in the order in which they start. */
export class Lane {
  /**
   * @param ids in the order of the lane
   * @param places the column `place` of the same tasks
   * @param isWhole whether no more tasks wait behind these
   */
  constructor(
    private readonly ids: readonly string[],
    private readonly places: readonly number[],
    readonly isWhole: boolean,
  ) {}

  get length(): number {
    return this.ids.length;
  }

  /**
   * How many tasks of the lane start before this one. The task need not be in the lane: it may have been created after
   * the lane was read.
   */
  countBefore({ place, id }: Waiting): number {
    let from = 0;
    let to = this.ids.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const other = this.places[middle]!;
      if (other < place || (other === place && this.ids[middle]! < id)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** The waiting tasks in the order in which they start: those of low priority have turns between the others. */
export class WaitingLine {
  /** @param lowShare percent of the starts that tasks of low priority get while tasks of normal priority wait */
  constructor(
    private readonly normal: Lane,
    private readonly low: Lane,
    private readonly lowShare: number,
  ) {}

  /**
   * The position of a task; 1 starts next. The task may have been created after the line was read.
   * @returns null when the position is behind the tasks that were read
   */
  positionOf(task: Waiting, isLow: boolean): number | null {
    const [own, other] = isLow ? [this.low, this.normal] : [this.normal, this.low];
    const nth = own.countBefore(task) + 1;
    if (nth > own.length && !own.isWhole) return null;
    const turns = isLow ? this.normalsBeforeLow(nth) : this.lowsBeforeNormal(nth);
    if (turns > other.length && !other.isWhole) return null;
    return nth + Math.min(turns, other.length);
  }

  private normalsBeforeLow(nth: number): number {
    return this.lowShare === 0 ? Infinity : Math.ceil((nth * (100 - this.lowShare)) / this.lowShare);
  }

  private lowsBeforeNormal(nth: number): number {
    return Math.floor(((nth - 1) * this.lowShare) / (100 - this.lowShare));
  }
}
