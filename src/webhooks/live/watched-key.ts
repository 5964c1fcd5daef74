import type { ListedDelivery } from '../sql/list-deliveries.ts';
import type { DeliveryQueue } from './delivery-queue.ts';

/** The subscribers of one API key, and the attempts that they have been sent. */
export class WatchedKey {
  readonly queues = new Set<DeliveryQueue>();
  /** Ids of the last attempts. null until the first poll, which says what is old. */
  private seen: Set<string> | null = null;

  /** @param ids of the attempts of the last seconds; @returns those that are new */
  news(ids: ReadonlySet<string>): string[] {
    const { seen } = this;
    this.seen = new Set(ids);
    return seen === null ? [] : [...ids].filter((id) => !seen.has(id));
  }

  push(delivery: ListedDelivery): void {
    for (const queue of this.queues) queue.push(delivery);
  }
}
