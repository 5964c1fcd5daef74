import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Bus } from './bus.ts';
import { Subscribers } from './subscribers.ts';
import { Outbox } from './outbox.ts';

const CHANNEL = 'darkroom_news';
/** NOTIFY refuses 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_900;
/** Together some 1,700 changes of tasks every 20 ms; one message at a time let 5,000 a second through. */
const MAX_MESSAGES = 16;
/** NOTIFY inside a commit serialises all commits of the database, so there are few of them. */
const GATHER_MS = 20;
const RECONNECT_MS = [100, 250, 500, 1000];
const PING_MS = 5_000;
/** How long a statement on the bus's connection may take before it counts as broken. */
const ANSWER_MS = 5_000;

/**
 * LISTEN/NOTIFY on one connection of its own. The first news goes out at once, what follows is gathered for up to
 * 20 ms. A process does not hear itself: it knows already.
 */
export class PostgresBus implements Bus {
  private readonly logger = new Logger('bus');
  private readonly hearers = new Subscribers();
  private readonly outbox = new Outbox(MAX_PAYLOAD_BYTES, MAX_MESSAGES);
  private client: pg.Client | null = null;
  /** When the connection last answered; news since then may not have reached us, should it turn out to be broken. */
  private heardAt = performance.now();
  private sending = false;
  private stopped = false;
  private pinger: NodeJS.Timeout | undefined;

  constructor(private readonly databaseUrl: string) {}

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
    await this.connect();
    this.pinger = setInterval(() => void this.ping(), PING_MS).unref();
  }

  /** Says first what is still to be said. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.pinger);
    const client = this.client;
    this.client = null;
    if (!client) return;
    try {
      while (!this.outbox.isEmpty) await this.outbox.send((messages) => notify(client, messages));
    } catch {
      // Hearers look for themselves every now and then.
    }
    await client.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.databaseUrl,
      application_name: 'darkroom:bus',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      options: '-c synchronous_commit=off', // news is fleeting: its commits need not wait for the disk
    });
    client.on('notification', ({ payload }) => this.deliver(payload ?? ''));
    client.on('error', () => this.lost(client));
    client.on('end', () => this.lost(client));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    if (this.stopped) {
      await client.end().catch(() => undefined);
      return;
    }
    this.client = client;
    this.heardAt = performance.now();
    void this.send();
  }

  /** A half-open connection looks alive and hears nothing; a ping that fails ends it. */
  private async ping(): Promise<void> {
    const client = this.client;
    if (!client) return;
    const askedAt = performance.now();
    try {
      await client.query('select 1');
      this.heardAt = askedAt;
    } catch {
      this.lost(client);
    }
  }

  private lost(client: pg.Client): void {
    if (this.client !== client) return;
    this.client = null;
    client.end().catch(() => undefined);
    if (this.stopped) return;
    this.logger.warn({ event: 'bus.lost' });
    void this.reconnect();
  }

  private async reconnect(): Promise<void> {
    const deafSince = this.heardAt;
    for (let tries = 0; !this.stopped; tries += 1) {
      await sleep(RECONNECT_MS[Math.min(tries, RECONNECT_MS.length - 1)], undefined, { ref: false });
      try {
        await this.connect();
      } catch {
        continue; // still away
      }
      const deafS = Math.ceil((performance.now() - deafSince) / 1000);
      this.logger.log({ event: 'bus.back', deaf_s: deafS });
      this.hearers.missed(deafS);
      return;
    }
  }

  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      while (!this.outbox.isEmpty && this.client) {
        const client = this.client;
        await this.outbox.send((messages) => notify(client, messages)).catch(() => this.lost(client));
        await sleep(GATHER_MS, undefined, { ref: false });
      }
    } finally {
      this.sending = false;
    }
  }

  private deliver(payload: string): void {
    const message = this.outbox.read(payload);
    if (!message) return;
    this.hearers.deliver(message.news);
    if (message.droppedS > 0) this.hearers.missed(message.droppedS);
  }
}

function notify(client: pg.Client, messages: string[]): Promise<unknown> {
  const text = 'select pg_notify($1, message) from unnest($2::text[]) as message';
  return client.query({ name: 'bus.notify', text, values: [CHANNEL, messages] });
}
