import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { eventually } from '../wait.ts';

/** Whether this machine has a Redis server to test with. Debian: `apt-get install redis-server`. */
export const hasRedis = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** Starts a Redis server on a free port, without persistence. */
export async function startRedis(): Promise<{ url: string; port: number; stop(): Promise<void> }> {
  const port = await freePort();
  const options = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--daemonize',
    'no',
  ];
  const child = spawn('redis-server', options, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await eventually('Redis to start', () => answers(port));
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Starts a Redis Sentinel on a free port that watches the Redis server at `port`. */
export async function startSentinel(masterPort: number): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-'));
  const file = join(folder, 'sentinel.conf');
  writeFileSync(file, `port ${port}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor main 127.0.0.1 ${masterPort} 1\n`);
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await eventually('the sentinel to start', () => answers(port));
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (data) => {
      resolve(data.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}
