import { Logger } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from './bus.ts';
import { Subscribers } from './subscribers.ts';
import { Outbox } from './outbox.ts';

const CHANNEL = 'darkroom:news';
const MAX_MESSAGE_BYTES = 64 * 1024;
/** Redis does not mind small messages; this only joins what comes in one burst. */
const GATHER_MS = 5;
/** The start does not wait any longer for a Redis that is away: it is tried again and again. */
const START_MS = 5_000;
const MAX_RECONNECT_MS = 1_000;
const PING_MS = 5_000;
const ANSWER_MS = 5_000;

/** PUBLISH/SUBSCRIBE of Redis: one connection that hears, one that tells. A process does not hear itself. */
export class RedisBus implements Bus {
  private readonly logger = new Logger('bus');
  private readonly hearers = new Subscribers();
  private readonly outbox = new Outbox(MAX_MESSAGE_BYTES);
  private readonly hearing: Redis;
  private readonly telling: Redis;
  /** When the hearing connection last answered; null until it first does. */
  private heardAt: number | null = null;
  private isHearing = false;
  private sending = false;
  private stopped = false;
  private pinger: NodeJS.Timeout | undefined;

  constructor(url: string) {
    const options: RedisOptions = {
      lazyConnect: true,
      connectTimeout: ANSWER_MS,
      commandTimeout: ANSWER_MS,
      keepAlive: 10_000,
      enableOfflineQueue: false, // the outbox waits in its place, and is bounded
      maxRetriesPerRequest: 0,
      autoResubscribe: false, // done here, to know when it is done
      retryStrategy: (tries) => Math.min(100 * tries, MAX_RECONNECT_MS),
    };
    this.hearing = new Redis(url, { ...options, connectionName: 'darkroom:bus:hear' });
    this.telling = new Redis(url, { ...options, connectionName: 'darkroom:bus:tell' });
  }

  publish(topic: string, body: string): void {
    this.outbox.add(topic, body);
    void this.send();
  }

  subscribe(topic: string, listener: (bodies: string[]) => void): () => void {
    return this.hearers.hear(topic, listener);
  }

  onReconnect(listener: (deafS: number) => void): void {
    this.hearers.whenBack(listener);
  }

  async start(): Promise<void> {
    const listening = Promise.withResolvers<void>();
    for (const connection of [this.hearing, this.telling]) connection.on('error', () => undefined); // `close` follows
    this.hearing.on('message', (_channel, message) => this.deliver(message));
    this.hearing.on('close', () => this.lost());
    this.hearing.on('ready', () => void this.listen(listening.resolve));
    this.telling.on('ready', () => void this.send());
    for (const connection of [this.hearing, this.telling]) void connection.connect().catch(() => undefined);
    this.pinger = setInterval(() => void this.ping(), PING_MS).unref();
    await Promise.race([listening.promise, sleep(START_MS, undefined, { ref: false })]);
  }

  /** Says first what is still to be said. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.pinger);
    try {
      while (!this.outbox.isEmpty && this.telling.status === 'ready') await this.tell();
    } catch {
      // Hearers look for themselves every now and then.
    }
    this.hearing.disconnect();
    this.telling.disconnect();
  }

  private async listen(listening: () => void): Promise<void> {
    const deafSince = this.heardAt;
    try {
      await this.hearing.subscribe(CHANNEL);
    } catch {
      this.hearing.disconnect(true);
      return;
    }
    this.heardAt = performance.now();
    this.isHearing = true;
    listening();
    if (deafSince === null) return;
    const deafS = Math.ceil((performance.now() - deafSince) / 1000);
    this.logger.log({ event: 'bus.back', deaf_s: deafS });
    this.hearers.missed(deafS);
  }

  /** Called for every failed try to come back, too. */
  private lost(): void {
    if (this.isHearing && !this.stopped) this.logger.warn({ event: 'bus.lost' });
    this.isHearing = false;
  }

  /** A half-open connection looks alive and hears nothing; a ping that fails ends it. */
  private async ping(): Promise<void> {
    if (this.hearing.status !== 'ready') return;
    const askedAt = performance.now();
    try {
      await this.hearing.ping();
      this.heardAt = askedAt;
    } catch {
      this.hearing.disconnect(true);
    }
  }

  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      while (!this.outbox.isEmpty && this.telling.status === 'ready' && !this.stopped) {
        await this.tell().catch(() => this.telling.disconnect(true));
        await sleep(GATHER_MS, undefined, { ref: false });
      }
    } finally {
      this.sending = false;
    }
  }

  private tell(): Promise<void> {
    return this.outbox.send(async ([message]) => this.telling.publish(CHANNEL, message!));
  }

  private deliver(text: string): void {
    const message = this.outbox.read(text);
    if (!message) return;
    this.hearers.deliver(message.news);
    if (message.droppedS > 0) this.hearers.missed(message.droppedS);
  }
}
