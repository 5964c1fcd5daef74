/**
 * Values that a subscriber reads at its own pace, one at a time. The owner says which value comes next, and wakes the
 * reader when there may be a value. Not an async generator, because `return()` must end a pending `next()`.
 */
export class PullQueue<Value> implements AsyncIterableIterator<Value, undefined> {
  private readonly onClose: (() => void)[] = [];
  private failure: Error | null = null;
  private isWoken = false;
  private resume: (() => void) | null = null;
  private closed = false;

  /** @param take returns the next value, which then counts as read; null when there is none yet */
  constructor(private readonly take: () => Value | null | Promise<Value | null>) {}

  get isClosed(): boolean {
    return this.closed;
  }

  /** Call this when there may be a value. */
  wake(): void {
    this.isWoken = true;
    this.resume?.();
  }

  /** Ends the queue at once. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const callback of this.onClose) callback();
    this.wake();
  }

  /** Ends the queue at once. The pending read throws, or else the next one. Does nothing if the queue has ended. */
  fail(error: Error): void {
    if (this.closed) return;
    this.failure = error;
    this.close();
  }

  /** @param callback called once when the queue ends for any reason; at once when it has already ended */
  whenClosed(callback: () => void): void {
    if (this.closed) callback();
    else this.onClose.push(callback);
  }

  async next(): Promise<IteratorResult<Value, undefined>> {
    while (!this.closed) {
      this.isWoken = false;
      const value = await this.take();
      if (this.closed) break;
      if (value !== null) return { done: false, value };
      if (!this.isWoken) await new Promise<void>((resolve) => (this.resume = resolve));
    }
    const { failure } = this;
    this.failure = null;
    if (failure) throw failure;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Value, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<Value, undefined>> {
    this.close();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
