import { Redis } from 'ioredis';

const TIMEOUT_MS = 2_000;

/** Connects to Redis once and pings it. @throws if it cannot be reached or rejects the credentials */
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
  } catch (error) {
    throw cause ?? error; // the rejection itself says only that the connection is closed
  } finally {
    redis.disconnect();
  }
}
