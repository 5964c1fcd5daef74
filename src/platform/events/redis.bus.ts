import type { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { outsideOfRequests } from '../observe/logging/request-context.ts';
import type { Bus } from './bus.ts';
import { Echo } from './echo.ts';
import { Inbox } from './inbox.ts';
import { Outbox } from './outbox.ts';
import { readRedisAddress } from '../config/redis-address.ts';
import { RedisConnection } from './redis-connection.ts';
import { Subscribers } from './subscribers.ts';

const MAX_MESSAGE_BYTES = 64 * 1024;
/** Small messages are cheap for Redis; this only batches the events of one burst. */
const THROTTLE_MS = 5;
/** The start waits no longer for a Redis that is away. The connections keep retrying in the background. */
const START_TIMEOUT_MS = 5_000;

/**
 * PUBLISH/SUBSCRIBE of Redis, on one connection each; in a cluster to different nodes, so that the echo shows that
 * events pass between nodes. A process does not receive its own events.
 */
export class RedisBus implements Bus {
  private readonly subscribers = new Subscribers();
  private readonly outbox = new Outbox(MAX_MESSAGE_BYTES);
  private readonly inbox = new Inbox(this.outbox, this.subscribers, (text) => this.echo.received(text));
  private readonly echo = new Echo({
    isUp: () => this.isSubscribed && this.publisher.ready !== null,
    publish: (topic, body) => this.publish(topic, body),
    renew: () => this.renew(),
    reportMissed: (missedS) => this.subscribers.reportMissed(missedS),
  });
  private readonly subscriber: RedisConnection;
  private readonly publisher: RedisConnection;
  private isSubscribed = false;
  private sending = false;
  private stopped = false;

  /** @param olderChannels only subscribed to */
  constructor(
    url: string,
    private readonly channel: string,
    private readonly olderChannels: readonly string[] = [],
  ) {
    const address = readRedisAddress(url);
    const firstHost = Math.floor(Math.random() * address.hosts.length); // so that processes spread over the nodes
    this.subscriber = new RedisConnection(address, 'darkroom:bus:subscriber', firstHost, {
      ready: (redis) => void this.listen(redis),
      lost: (error) => this.interrupted(error),
    });
    this.publisher = new RedisConnection(address, 'darkroom:bus:publisher', firstHost + 1, {
      ready: () => this.publisherReady(),
      lost: (error) => this.echo.failed(error),
    });
  }

  get isConnected(): boolean {
    return this.echo.isHeard;
  }

  get waiting(): number {
    return this.outbox.size;
  }

  publish(topic: string, body: string): void {
    this.outbox.add(topic, body);
    void outsideOfRequests(() => this.send());
  }

  subscribe(topic: string, listener: (bodies: string[]) => void): () => void {
    return this.subscribers.subscribe(topic, listener);
  }

  onReconnect(listener: (missedS: number) => void): void {
    this.subscribers.onReconnect(listener);
  }

  async start(): Promise<void> {
    this.subscriber.open();
    this.publisher.open();
    this.echo.start();
    await Promise.race([this.echo.first, sleep(START_TIMEOUT_MS, undefined, { ref: false })]);
  }

  /** Sends the waiting events first. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.echo.stop();
    try {
      for (let redis = this.publisher.ready; redis && !this.outbox.isEmpty; redis = this.publisher.ready)
        await this.sendNext(redis);
    } catch {
      // Subscribers also poll from time to time.
    }
    this.subscriber.close();
    this.publisher.close();
  }

  private async listen(redis: Redis): Promise<void> {
    redis.on('message', (_channel, message) => this.inbox.receive(message));
    try {
      await redis.subscribe(this.channel, ...this.olderChannels);
    } catch (error) {
      this.subscriber.renew(error as Error);
      return;
    }
    if (this.subscriber.ready !== redis) return;
    this.isSubscribed = true;
    this.echo.listening();
  }

  private publisherReady(): void {
    if (this.isSubscribed) this.echo.listening();
    void this.send();
  }

  private interrupted(error: Error | undefined): void {
    this.isSubscribed = false;
    if (!this.stopped) this.echo.interrupted(error);
  }

  private renew(): void {
    this.subscriber.renew();
    this.publisher.renew();
  }

  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      for (let redis = this.publisher.ready; redis && !this.outbox.isEmpty; redis = this.publisher.ready) {
        if (this.stopped) break;
        await this.sendNext(redis).catch((error: Error) => this.publisher.renew(error));
        await sleep(THROTTLE_MS, undefined, { ref: false });
      }
    } finally {
      this.sending = false;
    }
  }

  private sendNext(redis: Redis): Promise<void> {
    return this.outbox.send(async ([message]) => redis.publish(this.channel, message!));
  }
}
