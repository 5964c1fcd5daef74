/**
 * Says when a subscriber is sent the next view. The time runs from one view to the next that the client has room for,
 * so a slow client costs nothing. A hand-written iterator instead of an async generator, because `return()` must end a
 * pending `next()`.
 */
export class Updates implements AsyncIterableIterator<true> {
  private nextMs = -Infinity;
  private isClosed = false;
  private wake: () => void = () => undefined;

  /**
   * @param everyMs least time between two views
   * @param onClose called once
   */
  constructor(
    private readonly everyMs: number,
    private readonly onClose: () => void,
  ) {}

  async next(): Promise<IteratorResult<true, undefined>> {
    const waitMs = this.nextMs - performance.now();
    if (waitMs > 0 && !this.isClosed) await this.sleep(waitMs);
    if (this.isClosed) return { done: true, value: undefined };
    this.nextMs = performance.now() + this.everyMs;
    return { done: false, value: true };
  }

  async return(): Promise<IteratorResult<true, undefined>> {
    if (!this.isClosed) {
      this.isClosed = true;
      this.onClose();
      this.wake();
    }
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<true, undefined>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private async sleep(ms: number): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.wake = woken.resolve;
    const timer = setTimeout(woken.resolve, ms).unref();
    await woken.promise;
    clearTimeout(timer);
  }
}
