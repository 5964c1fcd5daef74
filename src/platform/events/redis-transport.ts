import type { Redis } from 'ioredis';
import { readRedisAddress } from '../config/redis-address.ts';
import { RedisConnection } from './redis-connection.ts';
import type { Transport, TransportListener } from './transport.ts';

/**
 * Carries events by PUBLISH and SUBSCRIBE of Redis, with a connection for each. If EVENTS_URL names several nodes of a
 * cluster, the connections begin with different nodes. So the echo (echo.ts) also shows that events pass between nodes.
 */
export class RedisTransport implements Transport {
  readonly maxMessageBytes = 64 * 1024;
  readonly maxMessages = 1;
  /** So short that only the events of one burst are batched: small messages are cheap for Redis. */
  readonly throttleMs = 5;
  private readonly subscriber: RedisConnection;
  private readonly publisher: RedisConnection;
  private listener!: TransportListener;
  private isSubscribed = false;

  /** @param olderChannels channels of the older keys of SECRET_KEY, which this process only listens on */
  constructor(
    url: string,
    private readonly channel: string,
    private readonly olderChannels: readonly string[] = [],
  ) {
    const address = readRedisAddress(url);
    const firstHost = Math.floor(Math.random() * address.hosts.length); // spreads processes over the hosts
    this.subscriber = new RedisConnection(address, 'darkroom:bus:subscriber', firstHost, {
      ready: (redis) => void this.listen(redis),
      lost: (error) => this.interrupted(error),
    });
    this.publisher = new RedisConnection(address, 'darkroom:bus:publisher', firstHost + 1, {
      ready: () => this.publisherReady(),
      lost: (error) => this.listener.failed(error),
    });
  }

  get canSend(): boolean {
    return this.publisher.ready !== null;
  }

  get isUp(): boolean {
    return this.isSubscribed && this.canSend;
  }

  /** Does not wait for the connections, because Redis may be away. */
  async open(listener: TransportListener): Promise<void> {
    this.listener = listener;
    this.subscriber.open();
    this.publisher.open();
  }

  async send(messages: string[]): Promise<void> {
    try {
      for (const message of messages) await this.publisher.ready!.publish(this.channel, message);
    } catch (error) {
      this.publisher.renew(error as Error);
      throw error;
    }
  }

  renew(): void {
    this.subscriber.renew();
    this.publisher.renew();
  }

  async close(): Promise<void> {
    this.subscriber.close();
    this.publisher.close();
  }

  private async listen(redis: Redis): Promise<void> {
    redis.on('message', (_channel, message) => this.listener.received(message));
    try {
      await redis.subscribe(this.channel, ...this.olderChannels);
    } catch (error) {
      this.subscriber.renew(error as Error);
      return;
    }
    if (this.subscriber.ready !== redis) return;
    this.isSubscribed = true;
    this.listener.listening();
  }

  private publisherReady(): void {
    if (this.isSubscribed) this.listener.listening();
    this.listener.sendable();
  }

  private interrupted(error: Error | undefined): void {
    this.isSubscribed = false;
    this.listener.interrupted(error);
  }
}
