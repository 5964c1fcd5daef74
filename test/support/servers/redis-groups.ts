import { Redis } from 'ioredis';
import { freePort } from '../free-port.ts';
import { eventually } from '../wait.ts';
import { type RedisServer, startRedis, startSentinel, type TlsFiles } from './redis-server.ts';

export interface RedisGroup {
  /** The value for EVENTS_URL. */
  url: string;
  /** The servers: the master first, or the nodes of the cluster. */
  servers: RedisServer[];
  stop(): Promise<void>;
}

/** Starts a master, its replica and three sentinels. */
export async function startSentinels(tls?: TlsFiles): Promise<RedisGroup> {
  const master = await startRedis({ ...(tls && { tls }) });
  const replica = await startRedis({ lines: [`replicaof 127.0.0.1 ${master.port}`], ...(tls && { tls }) });
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(master.port, 2, tls)));
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  for (const { port } of sentinels) {
    await asking(port, tls, async (redis) => {
      await eventually('the sentinel to know the others', async () => {
        const [master] = (await redis.call('sentinel', 'masters')) as string[][];
        const facts = new Map((master ?? []).map((name, at, all) => [name, all[at + 1]]));
        return facts.get('num-other-sentinels') === '2' && facts.get('num-slaves') === '1';
      });
    });
  }
  return {
    url: `redis+sentinel${tls ? '+tls' : ''}://${hosts}/main`,
    servers: [master, replica],
    stop: async () => {
      for (const server of [...sentinels, replica, master]) await server.stop();
    },
  };
}

const SLOTS = 16_384;

/** Starts three masters that share the slots. */
export async function startCluster(tls?: TlsFiles): Promise<RedisGroup> {
  const busPorts = [await freePort(), await freePort(), await freePort()];
  const nodes = await Promise.all(
    busPorts.map((busPort) =>
      startRedis({
        lines: ['cluster-enabled yes', 'cluster-node-timeout 1000', `cluster-port ${busPort}`],
        ...(tls && { tls }),
      }),
    ),
  );
  for (const [at, { port }] of nodes.entries()) {
    await asking(port, tls, async (redis) => {
      const [from, to] = [at, at + 1].map((nth) => Math.floor((nth * SLOTS) / nodes.length)) as [number, number];
      await redis.call('cluster', 'addslotsrange', from, to - 1);
      const [first] = nodes;
      if (at > 0) await redis.call('cluster', 'meet', '127.0.0.1', first!.port, busPorts[0]!);
    });
  }
  for (const { port } of nodes) {
    await asking(port, tls, (redis) =>
      eventually('the node to know the others', async () => {
        const info = (await redis.call('cluster', 'info')) as string;
        return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
      }),
    );
  }
  return {
    url: `redis+cluster${tls ? '+tls' : ''}://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    servers: nodes,
    stop: async () => {
      for (const node of nodes) await node.stop();
    },
  };
}

/** The server with the most connections of subscribers. */
export async function mostSubscribed(servers: readonly RedisServer[]): Promise<RedisServer> {
  const counted = await Promise.all(
    servers.map((server) =>
      asking(server.port, undefined, async (redis) => {
        const list = (await redis.call('client', 'list')) as string;
        return { server, subscribers: list.split('name=darkroom:bus:subscriber').length };
      }),
    ),
  );
  return counted.toSorted((a, b) => b.subscribers - a.subscribers)[0]!.server;
}

async function asking<Answer>(
  port: number,
  tls: TlsFiles | undefined,
  ask: (redis: Redis) => Promise<Answer>,
): Promise<Answer> {
  const redis = new Redis({ port, host: '127.0.0.1', ...(tls && { tls: { rejectUnauthorized: false } }) });
  try {
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
}
