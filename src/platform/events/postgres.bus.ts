import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { Servers } from '../database/servers/servers.ts';
import { Interval } from '../run/interval.ts';
import { outsideOfRequests } from '../observe/logging/request-context.ts';
import type { Bus } from './bus.ts';
import { Echo } from './echo.ts';
import { Subscribers } from './subscribers.ts';
import { Inbox } from './inbox.ts';
import { Outbox } from './outbox.ts';

/** NOTIFY rejects 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_900;
/** 16 messages hold some 1,700 task changes. With one message every 20 ms, only 5,000 changes a second got through. */
const MAX_MESSAGES = 16;
/** NOTIFY in a commit serialises all commits of the database, so notifying commits must be few. */
const THROTTLE_MS = 20;
const RECONNECT_MS = [100, 250, 500, 1000];
/** Between two questions to the other servers, which of them is the primary. */
const PRIMARY_WATCH_S = 5;
/** The start waits no longer for its own message to come back. */
const START_TIMEOUT_MS = 5_000;
/** A statement on the bus's connection that takes longer counts as a broken connection. */
const STATEMENT_TIMEOUT_MS = 5_000;

/**
 * LISTEN/NOTIFY on a dedicated connection. The first event is sent at once; events that follow are batched for up to 20 ms.
 * A process does not receive its own events.
 */
export class PostgresBus implements Bus {
  private readonly servers: Servers;
  private readonly subscribers = new Subscribers();
  private readonly outbox = new Outbox(MAX_PAYLOAD_BYTES, MAX_MESSAGES);
  private readonly inbox = new Inbox(this.outbox, this.subscribers, (text) => this.echo.received(text));
  private readonly echo = new Echo({
    isUp: () => this.client !== null,
    publish: (topic, body) => this.publish(topic, body),
    renew: () => this.client && this.disconnected(this.client),
    reportMissed: (missedS) => this.subscribers.reportMissed(missedS),
  });
  private readonly primaryWatch = new Interval(() => this.watchPrimary());
  private client: Client | null = null;
  private sending = false;
  private stopped = false;

  /**
   * @param channel letters, digits and `_` only
   * @param olderChannels only listened to
   */
  constructor(
    databaseUrl: string,
    private readonly channel: string,
    private readonly olderChannels: readonly string[] = [],
  ) {
    this.servers = new Servers(databaseUrl);
  }

  /** See `Servers.changeLogin`. */
  changeLogin(url: string): void {
    this.servers.changeLogin(url);
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
    await this.connect();
    this.echo.start();
    if (this.servers.areSeveral) this.primaryWatch.start(PRIMARY_WATCH_S);
    await Promise.race([this.echo.first, sleep(START_TIMEOUT_MS, undefined, { ref: false })]);
  }

  /** Sends the waiting events first. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.echo.stop();
    await this.primaryWatch.stop();
    const client = this.client;
    this.client = null;
    if (!client) return;
    try {
      while (!this.outbox.isEmpty) await this.outbox.send((messages) => this.notify(client, messages));
    } catch {
      // Subscribers also poll from time to time.
    }
    await client.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = await this.servers.connect({
      application_name: 'darkroom:bus',
      connectionTimeoutMillis: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS,
      keepAlive: true,
      options: '-c synchronous_commit=off', // events are ephemeral: their commits need not wait for the disk
    });
    client.on('notification', ({ payload }) => this.inbox.receive(payload ?? ''));
    client.on('error', (error) => this.disconnected(client, error));
    client.on('end', () => this.disconnected(client));
    try {
      for (const channel of [this.channel, ...this.olderChannels]) await client.query(`listen ${channel}`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    if (this.stopped) {
      await client.end().catch(() => undefined);
      return;
    }
    this.client = client;
    this.echo.listening();
    void this.send();
  }

  /** A primary that was cut off still echoes, but to none of the processes that have left it. */
  private async watchPrimary(): Promise<number> {
    const client = this.client;
    const hasMoved = client !== null && (await this.servers.hasMoved().catch(() => false));
    if (hasMoved) this.disconnected(client);
    return PRIMARY_WATCH_S;
  }

  private disconnected(client: Client, error?: Error): void {
    if (this.client !== client) return;
    this.client = null;
    client.end().catch(() => undefined);
    if (this.stopped) return;
    this.echo.interrupted(error);
    void this.reconnect();
  }

  private async reconnect(): Promise<void> {
    for (let tries = 0; !this.stopped; tries += 1) {
      await sleep(RECONNECT_MS[Math.min(tries, RECONNECT_MS.length - 1)], undefined, { ref: false });
      try {
        await this.connect();
        return;
      } catch (error) {
        this.echo.failed(error as Error); // the database is still unreachable
      }
    }
  }

  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      while (!this.outbox.isEmpty && this.client) {
        const client = this.client;
        await this.outbox
          .send((messages) => this.notify(client, messages))
          .catch((error: Error) => this.disconnected(client, error));
        await sleep(THROTTLE_MS, undefined, { ref: false });
      }
    } finally {
      this.sending = false;
    }
  }

  private notify(client: Client, messages: string[]): Promise<unknown> {
    const text = 'select pg_notify($1, message) from unnest($2::text[]) as message';
    return client.query({ name: 'bus.notify', text, values: [this.channel, messages] });
  }
}
