/**
 * Repeats a task until it is stopped. Runs never overlap.
 * @param run does the task once and returns the seconds until the next run; it must not throw
 */
export class Interval {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly run: () => Promise<number>) {}

  start(delayS = 0): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.running = this.run().then((nextS) => this.start(nextS));
    }, delayS * 1000).unref();
  }

  /** Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }
}
