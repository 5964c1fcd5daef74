import { Logger } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { outsideOfRequests } from '../logging/request-context.ts';
import type { Bus } from './bus.ts';
import { deafSeconds } from './bus-metrics.ts';
import { Echo } from './echo.ts';
import { Subscribers } from './subscribers.ts';
import { Inbox } from './inbox.ts';
import { Outbox } from './outbox.ts';

const MAX_MESSAGE_BYTES = 64 * 1024;
/** Small messages are cheap for Redis; this only batches the events of one burst. */
const THROTTLE_MS = 5;
/** The start waits no longer for an unreachable Redis. The connections keep retrying in the background. */
const START_TIMEOUT_MS = 5_000;
const MAX_RECONNECT_MS = 1_000;
const PING_MS = 5_000;
const COMMAND_TIMEOUT_MS = 5_000;

/** PUBLISH/SUBSCRIBE of Redis, on one connection each. A process does not receive its own events. */
export class RedisBus implements Bus {
  private readonly logger = new Logger('bus');
  private readonly subscribers = new Subscribers();
  private readonly outbox = new Outbox(MAX_MESSAGE_BYTES);
  private readonly inbox = new Inbox(this.outbox, this.subscribers, (text) => this.echo.received(text));
  private readonly echo = new Echo((topic, body) => this.publish(topic, body));
  private readonly subscriber: Redis;
  private readonly publisher: Redis;
  /** When the subscriber connection last answered; null before its first answer. */
  private answeredAt: number | null = null;
  private isSubscribed = false;
  /** The outage has been logged. */
  private isReported = false;
  private lastError: Error | undefined;
  private sending = false;
  private stopped = false;
  private pinger: NodeJS.Timeout | undefined;

  constructor(
    url: string,
    private readonly channel: string,
  ) {
    const options: RedisOptions = {
      lazyConnect: true,
      connectTimeout: COMMAND_TIMEOUT_MS,
      commandTimeout: COMMAND_TIMEOUT_MS,
      keepAlive: 10_000,
      enableOfflineQueue: false, // events wait in the outbox instead, which is bounded
      maxRetriesPerRequest: 0,
      autoResubscribe: false, // `listen` resubscribes, to know when it is done
      retryStrategy: (tries) => Math.min(100 * tries, MAX_RECONNECT_MS),
    };
    this.subscriber = new Redis(url, { ...options, connectionName: 'darkroom:bus:subscriber' });
    this.publisher = new Redis(url, { ...options, connectionName: 'darkroom:bus:publisher' });
  }

  get isConnected(): boolean {
    return this.isSubscribed && this.publisher.status === 'ready';
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
    const subscribed = Promise.withResolvers<void>();
    const connections = [this.subscriber, this.publisher];
    for (const connection of connections) connection.on('error', (error) => (this.lastError = error)); // `close` follows
    this.subscriber.on('message', (_channel, message) => this.inbox.receive(message));
    this.subscriber.on('close', () => this.disconnected());
    this.subscriber.on('ready', () => void this.listen(subscribed.resolve));
    this.publisher.on('ready', () => void this.send());
    for (const connection of connections) void connection.connect().catch(() => undefined);
    this.echo.start();
    this.pinger = setInterval(() => void this.ping(), PING_MS).unref();
    await Promise.race([subscribed.promise, sleep(START_TIMEOUT_MS, undefined, { ref: false })]);
  }

  /** Sends the waiting events first. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.pinger);
    this.echo.stop();
    try {
      while (!this.outbox.isEmpty && this.publisher.status === 'ready') await this.sendNext();
    } catch {
      // Subscribers also poll from time to time.
    }
    this.subscriber.disconnect();
    this.publisher.disconnect();
  }

  private async listen(onSubscribed: () => void): Promise<void> {
    const missingSince = this.answeredAt;
    try {
      await this.subscriber.subscribe(this.channel);
    } catch {
      this.subscriber.disconnect(true);
      return;
    }
    this.answeredAt = performance.now();
    this.isSubscribed = true;
    onSubscribed();
    const wasReported = this.isReported;
    this.isReported = false;
    if (missingSince === null) {
      if (wasReported) this.logger.log({ event: 'bus.connected' });
      return;
    }
    const missedS = Math.ceil((performance.now() - missingSince) / 1000);
    this.logger.log({ event: 'bus.reconnected', missed_s: missedS });
    deafSeconds.inc(missedS);
    this.subscribers.reportMissed(missedS);
  }

  /** Runs for every failed connection attempt as well, also at the start, but logs an outage once. */
  private disconnected(): void {
    this.isSubscribed = false;
    if (this.isReported || this.stopped) return;
    this.isReported = true;
    this.logger.warn({ event: 'bus.disconnected', err: this.lastError });
  }

  /** A half-open connection looks alive but receives nothing. A failed ping ends it. */
  private async ping(): Promise<void> {
    if (this.subscriber.status !== 'ready') return;
    const sentAt = performance.now();
    try {
      await this.subscriber.ping();
      this.answeredAt = sentAt;
    } catch {
      this.subscriber.disconnect(true);
    }
  }

  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      while (!this.outbox.isEmpty && this.publisher.status === 'ready' && !this.stopped) {
        await this.sendNext().catch(() => this.publisher.disconnect(true));
        await sleep(THROTTLE_MS, undefined, { ref: false });
      }
    } finally {
      this.sending = false;
    }
  }

  private sendNext(): Promise<void> {
    return this.outbox.send(async ([message]) => this.publisher.publish(this.channel, message!));
  }
}
