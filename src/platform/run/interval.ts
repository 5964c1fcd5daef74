import { outsideOfRequests } from '../observe/logging/request-context.ts';

/**
 * Repeats a task until `stop` is called. The next run begins after the seconds that `run` returned, or on request. Runs
 * never overlap.
 * @param run does the task once and returns the seconds until the next run; it must not throw
 */
export class Interval {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  /** A requested run that has not begun. */
  private requested: Promise<void> | null = null;
  private stopped = false;

  constructor(private readonly run: () => Promise<number>) {}

  start(delayS = 0): void {
    if (this.stopped) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.runNow(), delayS * 1000).unref();
  }

  /**
   * Runs the task now. If a run is in progress, runs the task once more after it, because that run may have begun
   * before the caller's change. Requests that arrive before this second run begins share it.
   */
  runNow(): Promise<void> {
    if (this.stopped) return Promise.resolve();
    this.requested ??= this.running = outsideOfRequests(() => this.running.then(() => this.runOnce()));
    return this.requested;
  }

  /** No run begins any more. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async runOnce(): Promise<void> {
    this.requested = null;
    clearTimeout(this.timer);
    if (!this.stopped) this.start(await this.run());
  }
}
