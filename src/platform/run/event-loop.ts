/** The loop should turn at least this often. */
const TICK_MS = 500;
/** A loop that is this late does not answer a probe in time. */
const STUCK_MS = 2_000;
/** A loop that was stuck counts as stuck for this time afterwards: what blocked it is likely to block it again. */
const REMEMBERED_MS = 5_000;

/** Notices when the event loop of this process is blocked for long. */
export class EventLoop {
  /** Infinity until the first tick, because a slow start is no blocked loop. */
  private nextTickMs = Infinity;
  private stuckUntilMs = 0;

  constructor() {
    setInterval(() => this.tick(), TICK_MS).unref();
  }

  /**
   * Whether the loop was blocked within the last `REMEMBERED_MS`. Also true right after a block, before the timer has
   * run.
   */
  get isStuck(): boolean {
    this.note();
    return performance.now() < this.stuckUntilMs;
  }

  private tick(): void {
    this.note();
    this.nextTickMs = performance.now() + TICK_MS;
  }

  private note(): void {
    const now = performance.now();
    if (now - this.nextTickMs > STUCK_MS) this.stuckUntilMs = now + REMEMBERED_MS;
  }
}
