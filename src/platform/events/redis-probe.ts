import { Redis } from 'ioredis';
import { type RedisAddress, type RedisHost, readRedisAddress } from '../config/redis-address.ts';
import { redisOptions } from './redis-options.ts';

/**
 * A host that answers later counts as away, so a start goes on without the check. A process that starts on a busy
 * machine may take seconds to read an answer.
 */
const TIMEOUT_MS = 10_000;

/** A server answers, but cannot carry live events as EVENTS_URL says. */
export class UnsupportedRedis extends Error {
  override name = 'UnsupportedRedis';
}

/**
 * Connects to Redis as the bus does, and asks each host that EVENTS_URL names what it is.
 * @returns what was found, in words
 * @throws UnsupportedRedis if a host is something else than EVENTS_URL says; another error if events cannot be carried
 */
export async function probeRedis(url: string): Promise<string> {
  const address = readRedisAddress(url);
  const answers = await askHosts(address);
  const answering = answers.filter((answer) => !(answer instanceof Error)).length;
  if (address.kind === 'cluster') {
    if (answering === 0) throw answers[0] as Error;
    return `${answering} of ${answers.length} nodes of the Redis Cluster respond`;
  }
  await connected(redisOptions(address, 0, TIMEOUT_MS), (redis) => redis.ping());
  if (address.kind === 'server') return 'Redis responds';
  return `the master of Redis Sentinel responds, and ${answering} of ${answers.length} sentinels`;
}

/**
 * Checks the hosts that answer: a host that is away or refuses INFO does not prevent a start. @throws UnsupportedRedis
 */
export async function assertServesEvents(url: string): Promise<void> {
  await askHosts(readRedisAddress(url));
}

/** @returns for each host true, or the error if it did not answer. @throws UnsupportedRedis */
async function askHosts(address: RedisAddress): Promise<(true | Error)[]> {
  const answers = await Promise.all(address.hosts.map((host) => askHost(address, host)));
  for (const answer of answers) if (answer instanceof UnsupportedRedis) throw answer;
  return answers;
}

async function askHost(address: RedisAddress, host: RedisHost): Promise<true | Error> {
  const user = address.kind === 'sentinel' ? address.sentinelUser : address.user;
  const single = { ...address, kind: 'server', hosts: [host], user } as const;
  try {
    await connected(redisOptions(single, 0, TIMEOUT_MS), async (redis) => {
      await redis.ping();
      await assertIsWhatItShouldBe(redis, address);
    });
    return true;
  } catch (error) {
    return error as Error;
  }
}

async function connected<Answer>(
  options: ReturnType<typeof redisOptions>,
  ask: (redis: Redis) => Promise<Answer>,
): Promise<Answer> {
  const redis = new Redis(options);
  let cause: Error | undefined;
  redis.on('error', (error) => (cause = error));
  try {
    await redis.connect();
    return await ask(redis);
  } catch (error) {
    if (error instanceof UnsupportedRedis) throw error;
    throw cause ?? error; // the rejection itself says only that the connection is closed
  } finally {
    redis.disconnect();
  }
}

/**
 * A sentinel answers PING and accepts SUBSCRIBE, but refuses PUBLISH. Servers that are no cluster pass nothing on to
 * each other. In both cases the bus could connect, but events would be lost.
 */
async function assertIsWhatItShouldBe(redis: Redis, { kind, masterName }: RedisAddress): Promise<void> {
  const info = await redis.info('server').catch(() => '');
  const mode = /^redis_mode:(\w+)\r?$/m.exec(info)?.[1];
  if (mode === undefined) return;
  if (kind !== 'sentinel' && mode === 'sentinel') {
    throw new UnsupportedRedis(
      'EVENTS_URL leads to a Redis Sentinel, which knows where Redis is but carries no events. ' +
        'Name the sentinels and their master: EVENTS_URL=redis+sentinel://host,host,host/name',
    );
  }
  if (kind === 'cluster' && mode !== 'cluster') {
    throw new UnsupportedRedis(
      'EVENTS_URL is one of a Redis Cluster, but a host in it is no node of a cluster. For a single server: EVENTS_URL=redis://host',
    );
  }
  if (kind !== 'sentinel') return;
  if (mode !== 'sentinel') {
    throw new UnsupportedRedis(
      'EVENTS_URL must name sentinels, but a host in it is a Redis server. For a single server: EVENTS_URL=redis://host',
    );
  }
  if ((await redis.call('sentinel', 'get-master-addr-by-name', masterName!)) === null) {
    throw new UnsupportedRedis(
      `EVENTS_URL ends with the name of a master, "${masterName}", that a sentinel in it does not watch.`,
    );
  }
}
