import type { RedisOptions } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';

/**
 * Options for one attempt to connect. Each attempt begins with the next host, so a host that does not answer delays
 * only one attempt. In a cluster PUBLISH reaches the subscribers of all nodes, so one node is enough.
 * @param attempt counts from 0
 */
export function redisOptions(address: RedisAddress, attempt: number, timeoutMs: number): RedisOptions {
  const { kind, hosts, masterName, isTls, user, sentinelUser } = address;
  const first = attempt % hosts.length;
  const rotated = [...hosts.slice(first), ...hosts.slice(0, first)];
  const options: RedisOptions = {
    ...given(user),
    ...(isTls && { tls: {} }),
    family: 0, // IPv4 and IPv6
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    keepAlive: 10_000,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  };
  if (kind !== 'sentinel') return { ...options, ...rotated[0] };
  return {
    ...options,
    sentinels: rotated,
    name: masterName!,
    sentinelUsername: sentinelUser.username,
    sentinelPassword: sentinelUser.password,
    sentinelCommandTimeout: timeoutMs,
    sentinelRetryStrategy: () => null,
    ...(isTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}

/** Leaves out undefined values, because the library would send them. */
const given = ({ username, password }: RedisAddress['user']): RedisOptions => ({
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
});
