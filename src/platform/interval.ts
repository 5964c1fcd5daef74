/**
 * Does something again and again, one at a time, until stopped.
 * @param look does it once and says after how many seconds to do it again; it must not throw
 */
export class Interval {
  private timer: NodeJS.Timeout | undefined;
  private under: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly look: () => Promise<number>) {}

  start(delayS = 0): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.under = this.look().then((nextS) => this.start(nextS));
    }, delayS * 1000).unref();
  }

  /** Resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.under;
  }
}
