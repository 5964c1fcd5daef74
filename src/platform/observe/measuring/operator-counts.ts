/** Names that are counted between two takings. Others are not counted. */
const MAX_NAMES = 1_000;

/** Counts that operators read by names which no metric may have as a label, such as API keys. */
export class OperatorCounts {
  private counts = new Map<string, number>();

  add(name: string): void {
    const count = this.counts.get(name) ?? 0;
    if (count > 0 || this.counts.size < MAX_NAMES) this.counts.set(name, count + 1);
  }

  /** @returns what was counted since the last call */
  take(): Map<string, number> {
    const { counts } = this;
    this.counts = new Map();
    return counts;
  }
}
