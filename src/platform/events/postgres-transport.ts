import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { Servers } from '../database/servers/servers.ts';
import { Interval } from '../run/interval.ts';
import type { Transport, TransportListener } from './transport.ts';

const RECONNECT_MS = [100, 250, 500, 1000];
/** Seconds between two checks whether another server is the primary now. */
const PRIMARY_WATCH_S = 5;
/** If a statement on the bus's connection takes longer, the connection counts as broken. */
const STATEMENT_TIMEOUT_MS = 5_000;

/** Carries events by LISTEN and NOTIFY on a dedicated connection. */
export class PostgresTransport implements Transport {
  /** NOTIFY rejects payloads of 8,000 bytes or more. */
  readonly maxMessageBytes = 7_900;
  /**
   * 16 messages hold some 1,700 task changes. With one message every 20 ms, only 5,000 changes a second got through.
   */
  readonly maxMessages = 16;
  /** NOTIFY in a commit serialises all commits of the database, so commits with NOTIFY must be few. */
  readonly throttleMs = 20;
  private readonly servers: Servers;
  private readonly primaryWatch = new Interval(() => this.watchPrimary());
  private listener!: TransportListener;
  private client: Client | null = null;
  private stopped = false;

  /**
   * @param channel letters, digits and `_` only
   * @param olderChannels channels of the older keys of SECRET_KEY, which this process only listens on
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

  get canSend(): boolean {
    return this.client !== null;
  }

  get isUp(): boolean {
    return this.client !== null;
  }

  async open(listener: TransportListener): Promise<void> {
    this.listener = listener;
    await this.connect();
    if (this.servers.areSeveral) this.primaryWatch.start(PRIMARY_WATCH_S);
  }

  async send(messages: string[]): Promise<void> {
    const client = this.client!;
    const text = 'select pg_notify($1, message) from unnest($2::text[]) as message';
    try {
      await client.query({ name: 'bus.notify', text, values: [this.channel, messages] });
    } catch (error) {
      this.disconnected(client, error as Error);
      throw error;
    }
  }

  renew(): void {
    if (this.client) this.disconnected(this.client);
  }

  async close(): Promise<void> {
    this.stopped = true;
    await this.primaryWatch.stop();
    const client = this.client;
    this.client = null;
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = await this.servers.connect({
      application_name: 'darkroom:bus',
      connectionTimeoutMillis: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS,
      keepAlive: true,
      options: '-c synchronous_commit=off', // events are ephemeral: their commits need not wait for the disk
    });
    client.on('notification', ({ payload }) => this.listener.received(payload ?? ''));
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
    this.listener.listening();
    this.listener.sendable();
  }

  /**
   * Leaves a server that is no longer the primary. A primary that was cut off still returns echoes, but does not reach
   * the processes that have left it.
   */
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
    this.listener.interrupted(error);
    void this.reconnect();
  }

  private async reconnect(): Promise<void> {
    for (let tries = 0; !this.stopped; tries += 1) {
      await sleep(RECONNECT_MS[Math.min(tries, RECONNECT_MS.length - 1)], undefined, { ref: false });
      try {
        await this.connect();
        return;
      } catch (error) {
        this.listener.failed(error as Error); // the next attempt follows
      }
    }
  }
}
