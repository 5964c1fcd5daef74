import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { eventually } from '../wait.ts';

const PATH = `${process.env.PATH}:/usr/sbin`;

/** Whether this machine has PgBouncer. Debian: `apt-get install pgbouncer`. */
export const hasPgBouncer = (() => {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore', env: { PATH } });
    return true;
  } catch {
    return false;
  }
})();

/**
 * Starts PgBouncer before a database.
 * @param settings lines of its configuration
 * @returns the URL of the same database behind it
 */
export async function startPgBouncer(
  databaseUrl: string,
  settings: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const listenPort = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  chmodSync(folder, 0o755);
  const server = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]\n* = ${server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${listenPort}\nunix_socket_dir =\nauth_type = any\n${settings}\n`,
    { mode: 0o644 },
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], { stdio: 'ignore', env: { PATH }, ...user });
  const ended = once(child, 'exit');
  await eventually('PgBouncer to start', () => accepts(listenPort));
  return {
    url: `postgres://${username}@127.0.0.1:${listenPort}${pathname}`,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).once('error', () => resolve(false));
  });
}
