import type { ListedDelivery } from '../sql/list-deliveries.ts';

/** Attempts that wait for a slow subscriber. Beyond it the oldest are left out: the log has them all. */
const MAX_WAITING = 200;

/**
 * The attempts that one subscriber still has to be sent. A hand-written iterator instead of an async generator, because
 * `return()` must end a pending `next()`.
 */
export class DeliveryQueue implements AsyncIterableIterator<ListedDelivery> {
  private waiting: ListedDelivery[] = [];
  private isClosed = false;
  private wake: () => void = () => undefined;

  /**
   * @param endpointId null: of every endpoint
   * @param onClose called once
   */
  constructor(
    readonly endpointId: string | null,
    private readonly onClose: (queue: DeliveryQueue) => void,
  ) {}

  push(delivery: ListedDelivery): void {
    if (this.isClosed || (this.endpointId !== null && delivery.endpoint_id !== this.endpointId)) return;
    this.waiting.push(delivery);
    if (this.waiting.length > MAX_WAITING) this.waiting.shift();
    this.wake();
  }

  async next(): Promise<IteratorResult<ListedDelivery, undefined>> {
    while (!this.isClosed) {
      const value = this.waiting.shift();
      if (value !== undefined) return { done: false, value };
      const woken = Promise.withResolvers<void>();
      this.wake = woken.resolve;
      await woken.promise;
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<ListedDelivery, undefined>> {
    if (!this.isClosed) {
      this.isClosed = true;
      this.onClose(this);
      this.wake();
    }
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<ListedDelivery, undefined>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
