import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { freePort } from '../free-port.ts';
import { eventually } from '../wait.ts';

/** Whether this machine has a Redis server for tests. Debian: `apt-get install redis-server`. */
export const hasRedis = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

export interface RedisServer {
  url: string;
  port: number;
  signal(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** PEM files of the server. Its certificate is self-signed. */
export interface TlsFiles {
  cert: string;
  key: string;
}

interface Options {
  /** Lines of redis.conf. */
  lines?: string[];
  tls?: TlsFiles;
  isSentinel?: boolean;
}

/** Starts a Redis server, or a sentinel, on a free port of 127.0.0.1, without persistence. */
export async function startRedis({ lines = [], tls, isSentinel = false }: Options = {}): Promise<RedisServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const file = join(folder, 'redis.conf');
  const ports = tls ? ['port 0', `tls-port ${port}`, ...tlsLines(tls)] : [`port ${port}`];
  const common = ['bind 127.0.0.1', `dir ${folder}`, ...(isSentinel ? [] : ['save ""', 'appendonly no'])];
  writeFileSync(file, [...ports, ...common, ...lines, ''].join('\n'));
  const child = spawn('redis-server', [file, ...(isSentinel ? ['--sentinel'] : [])], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await eventually('Redis to start', () => answers(port, tls !== undefined));
  return {
    url: `redis${tls ? '+tls' : ''}://127.0.0.1:${port}`,
    port,
    signal: (signal) => void child.kill(signal),
    stop: async () => {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Starts a Redis Sentinel that watches the Redis server at `masterPort` under the name `main`. */
export function startSentinel(masterPort: number, quorum = 1, tls?: TlsFiles): Promise<RedisServer> {
  const lines = [
    `sentinel monitor main 127.0.0.1 ${masterPort} ${quorum}`,
    'sentinel down-after-milliseconds main 1000',
    'sentinel failover-timeout main 5000',
  ];
  return startRedis({ lines, isSentinel: true, ...(tls && { tls }) });
}

const tlsLines = ({ cert, key }: TlsFiles): string[] => [
  `tls-cert-file ${cert}`,
  `tls-key-file ${key}`,
  `tls-ca-cert-file ${cert}`,
  'tls-auth-clients no',
  'tls-replication yes',
  'tls-cluster yes',
];

function answers(port: number, isTls: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const ask = (): void => void socket.write('PING\r\n');
    const socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, ask)
      : connect(port, '127.0.0.1', ask);
    socket.once('data', (data) => {
      resolve(data.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}
