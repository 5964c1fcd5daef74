import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { outsideOfRequests } from '../../platform/observe/logging/request-context.ts';
import { PullQueue } from '../../platform/run/pull-queue.ts';
import { EndpointsService } from '../endpoints/endpoints.service.ts';
import type { ListedDelivery } from '../sql/list-deliveries.ts';
import { NewDeliveries } from '../sql/new-deliveries.ts';

/**
 * The maximum number of attempts that wait for a slow subscriber. Above this number the oldest are dropped; the list of
 * deliveries has all of them.
 */
const MAX_WAITING = 200;

/** The attempts that are still to be sent to one subscriber. */
class DeliveryQueue {
  private readonly waiting: ListedDelivery[] = [];
  readonly attempts = new PullQueue<ListedDelivery>(() => this.waiting.shift() ?? null);

  /** @param endpointId null: the attempts at every endpoint */
  constructor(private readonly endpointId: string | null) {}

  push(delivery: ListedDelivery): void {
    if (this.endpointId !== null && delivery.endpoint_id !== this.endpointId) return;
    this.waiting.push(delivery);
    if (this.waiting.length > MAX_WAITING) this.waiting.shift();
    this.attempts.wake();
  }
}

/** The subscribers of one API key, and the attempts that the last poll found. */
class WatchedKey {
  readonly queues = new Set<DeliveryQueue>();
  /** The ids that the last poll has found; null before the first poll. What the first poll finds is not new. */
  private seen: Set<string> | null = null;

  /** @param ids the ids that a poll has found; @returns the new ones among them */
  news(ids: ReadonlySet<string>): string[] {
    const { seen } = this;
    this.seen = new Set(ids);
    return seen === null ? [] : [...ids].filter((id) => !seen.has(id));
  }

  push(delivery: ListedDelivery): void {
    for (const queue of this.queues) queue.push(delivery);
  }
}

/** Milliseconds between polls while there are subscribers. */
const POLL_MS = 500;
/**
 * How far back a poll reads. Ids contain the times of processes, whose clocks differ, and a row is written some time
 * after its id was made.
 */
const LOOK_BACK_MS = 30_000;

/**
 * Follows attempts for subscribers, by polling. Polls only while there are subscribers. A signal for each attempt would
 * cost every worker something even without subscribers.
 */
@Injectable()
export class WatchDeliveries implements OnApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly keys = new Map<string, WatchedKey>();
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> = Promise.resolve();

  constructor(
    private readonly endpoints: EndpointsService,
    private readonly rows: NewDeliveries,
  ) {}

  /**
   * Follows the delivery attempts of the webhooks of an API key from now on.
   * @param endpointId null for the attempts at every endpoint of the key
   * @throws ApiError webhook_endpoint_not_found
   */
  async follow(apiKeyId: string, endpointId: string | null): Promise<PullQueue<ListedDelivery>> {
    if (endpointId !== null) await this.endpoints.find(apiKeyId, endpointId);
    const isFirst = !this.keys.has(apiKeyId);
    const key = this.keys.get(apiKeyId) ?? new WatchedKey();
    this.keys.set(apiKeyId, key);
    const queue = new DeliveryQueue(endpointId);
    queue.attempts.whenClosed(() => {
      key.queues.delete(queue);
      if (key.queues.size === 0 && this.keys.get(apiKeyId) === key) this.keys.delete(apiKeyId);
    });
    key.queues.add(queue);
    this.timer ??= outsideOfRequests(() => setInterval(() => void this.poll(), POLL_MS).unref());
    if (isFirst) await outsideOfRequests(() => this.poll()); // the poll reads for all keys, so it belongs to no request
    return queue.attempts;
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** One poll runs at a time. Otherwise an older result could arrive after a newer one. */
  private poll(): Promise<void> {
    const read = async () => {
      try {
        await this.read();
      } catch (err) {
        this.logger.debug({ event: 'webhook.watch_failed', err });
      }
    };
    return (this.polling = this.polling.then(read));
  }

  private async read(): Promise<void> {
    const watched = new Map(this.keys);
    if (watched.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    const found = await this.rows.since([...watched.keys()], Date.now() - LOOK_BACK_MS);
    const byKey = Map.groupBy(found, ({ api_key_id }) => api_key_id);
    const owners = new Map<string, WatchedKey>();
    for (const [apiKeyId, key] of watched) {
      const ids = new Set(byKey.get(apiKeyId)?.map(({ id }) => id));
      for (const id of key.news(ids)) owners.set(id, key);
    }
    if (owners.size === 0) return;
    const isNew = found.filter(({ id }) => owners.has(id));
    for (const delivery of await this.rows.read(isNew)) owners.get(delivery.id)?.push(delivery);
  }
}
