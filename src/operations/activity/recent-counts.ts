const SLOT_S = 10;
const KEPT_S = 3_600;

/** Counts of the last hour, in slots of ten seconds. */
export class RecentCounts {
  /** The newest slot is last. `slot` is its number on the monotonic clock. */
  private slots: { slot: number; counts: Map<string, number> }[] = [];

  /** @param nowS seconds of a monotonic clock */
  constructor(private readonly nowS: () => number = () => performance.now() / 1000) {}

  add(counts: Iterable<readonly [name: string, count: number]>): void {
    const slot = this.slot;
    let newest = this.slots.at(-1);
    if (newest?.slot !== slot) this.slots.push((newest = { slot, counts: new Map() }));
    for (const [name, count] of counts) newest.counts.set(name, (newest.counts.get(name) ?? 0) + count);
    this.slots = this.slots.filter((each) => each.slot > slot - KEPT_S / SLOT_S);
  }

  /** @param seconds back from now, an hour at most */
  sums(seconds: number): Map<string, number> {
    const sums = new Map<string, number>();
    const recent = this.slots.filter(({ slot }) => slot > this.slot - seconds / SLOT_S);
    for (const { counts } of recent) {
      for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
    }
    return sums;
  }

  private get slot(): number {
    return Math.floor(this.nowS() / SLOT_S);
  }
}
