import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { eventually } from '../wait.ts';

/** Folders to search. test/outside/deploy/pgbouncer/build.sh installs into the last one. */
const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/opt/pgbouncer/bin'];

/** The first version that supports prepared statements in transaction mode. */
const FIRST_SUPPORTED = 1.21;

/** The PgBouncer programs of this machine. Debian 12 has version 1.18, Debian 13 has 1.24. */
const programs = FOLDERS.map((folder) => join(folder, 'pgbouncer'))
  .filter((path) => existsSync(path))
  .map((path) => ({ path, version: versionOf(path) }));

/** Paths of programs; null if this machine has none. */
export const pgBouncers = {
  supported: programs.find(({ version }) => version >= FIRST_SUPPORTED)?.path ?? null,
  old: programs.find(({ version }) => version < FIRST_SUPPORTED)?.path ?? null,
};

export const hasPgBouncer = programs.length > 0;

function versionOf(path: string): number {
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' })) ?? [];
  return Number(`${major}.${minor}`);
}

/**
 * Starts a PgBouncer in front of a database.
 * @param settings lines of its configuration
 * @param program the path of PgBouncer; by default the first that was found
 * @returns the URL of the same database through PgBouncer
 */
export async function startPgBouncer(
  databaseUrl: string,
  settings: string,
  program: string = programs[0]!.path,
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
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...user });
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
