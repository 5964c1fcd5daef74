import { PullQueue } from '../../platform/run/pull-queue.ts';
import type { ListedDelivery } from '../sql/list-deliveries.ts';

/** Attempts that wait for a slow subscriber. Beyond it the oldest are left out: the log has them all. */
const MAX_WAITING = 200;

/** The attempts that one subscriber still has to be sent. */
export class DeliveryQueue {
  private readonly waiting: ListedDelivery[] = [];
  readonly attempts = new PullQueue<ListedDelivery>(() => this.waiting.shift() ?? null);

  /** @param endpointId null: of every endpoint */
  constructor(private readonly endpointId: string | null) {}

  push(delivery: ListedDelivery): void {
    if (this.endpointId !== null && delivery.endpoint_id !== this.endpointId) return;
    this.waiting.push(delivery);
    if (this.waiting.length > MAX_WAITING) this.waiting.shift();
    this.attempts.wake();
  }
}
