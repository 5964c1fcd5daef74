import { Redis } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';
import { redisOptions } from './redis-options.ts';

/** Timeout of connecting, and of a command. */
const TIMEOUT_MS = 3_000;
/** Timeout of the whole opening: asking all sentinels, connecting and signing in. */
const OPEN_TIMEOUT_MS = 10_000;
const RETRY_STEP_MS = 100;
const MAX_RETRY_MS = 1_000;
/** A connection that lasted longer has worked: the next attempts are quick again. */
const LASTED_MS = 5_000;

interface Listener {
  ready(redis: Redis): void;
  /** The connection is gone, or an attempt failed. */
  lost(error: Error | undefined): void;
}

/**
 * A connection to Redis that is replaced whenever it ends. The library's own reconnection is off (`redis-options.ts`),
 * because without sentinels it would only try the same node again.
 */
export class RedisConnection {
  private current: Redis | null = null;
  private isReady = false;
  private readySinceMs = 0;
  private quickEnds = 0;
  private isClosed = false;
  private retry: NodeJS.Timeout | undefined;

  /** @param attempt number of the first attempt; decides with which host the connection begins */
  constructor(
    private readonly address: RedisAddress,
    private readonly name: string,
    private attempt: number,
    private readonly listener: Listener,
  ) {}

  /** The connection; null while none works. */
  get ready(): Redis | null {
    return this.isReady ? this.current : null;
  }

  open(): void {
    const options = redisOptions(this.address, this.attempt++, TIMEOUT_MS);
    const redis = new Redis({ ...options, connectionName: this.name });
    this.current = redis;
    let cause: Error | undefined;
    const timer = setTimeout(() => this.drop(redis, new Error('Redis did not answer in time.')), OPEN_TIMEOUT_MS);
    timer.unref();
    redis.on('error', (error: Error) => (cause = error));
    redis.once('end', () => {
      clearTimeout(timer);
      this.drop(redis, cause);
    });
    redis.once('ready', () => {
      clearTimeout(timer);
      if (this.current !== redis) return;
      this.isReady = true;
      this.readySinceMs = performance.now();
      this.listener.ready(redis);
    });
    redis.connect().catch(() => undefined); // the event `end` follows
  }

  /** Replaces a connection that looks open but does not work. An attempt in progress goes on. */
  renew(error?: Error): void {
    if (this.ready) this.drop(this.ready, error);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.retry);
    this.current?.disconnect();
    this.current = null;
    this.isReady = false;
  }

  private drop(redis: Redis, error: Error | undefined): void {
    if (this.current !== redis) return;
    this.current = null;
    this.quickEnds = this.isReady && performance.now() - this.readySinceMs > LASTED_MS ? 1 : this.quickEnds + 1;
    this.isReady = false;
    redis.removeAllListeners('message');
    redis.disconnect();
    this.listener.lost(error);
    if (this.isClosed) return;
    this.retry = setTimeout(() => this.open(), Math.min(RETRY_STEP_MS * this.quickEnds, MAX_RETRY_MS)).unref();
  }
}
