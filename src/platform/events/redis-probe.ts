import { Redis } from 'ioredis';

const TIMEOUT_MS = 2_000;

/** The server answers, but cannot carry live events. */
export class UnsupportedRedis extends Error {
  override name = 'UnsupportedRedis';
}

/**
 * Connects to Redis once and pings it.
 * @throws UnsupportedRedis for a Redis Sentinel; another error if it cannot be reached or rejects the credentials
 */
export async function probeRedis(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let cause: Error | undefined;
  redis.on('error', (error) => (cause = error));
  try {
    await redis.connect();
    await redis.ping();
    if (await isSentinel(redis)) {
      throw new UnsupportedRedis(
        'EVENTS_URL leads to a Redis Sentinel, which knows where Redis is but carries no events; Darkroom does not support ' +
          'it yet. Set EVENTS_URL to the Redis server itself, or to an address that follows the master.',
      );
    }
  } catch (error) {
    if (error instanceof UnsupportedRedis) throw error;
    throw cause ?? error; // the rejection itself says only that the connection is closed
  } finally {
    redis.disconnect();
  }
}

/** Redis away, or a user who may not call INFO, is no reason to refuse a start. @throws UnsupportedRedis */
export async function assertNoSentinel(url: string): Promise<void> {
  try {
    await probeRedis(url);
  } catch (error) {
    if (error instanceof UnsupportedRedis) throw error;
  }
}

/** A sentinel answers PING and accepts SUBSCRIBE, so the bus would look connected, but it refuses PUBLISH. */
async function isSentinel(redis: Redis): Promise<boolean> {
  const info = await redis.info('server').catch(() => '');
  return /^redis_mode:sentinel\r?$/m.test(info);
}
