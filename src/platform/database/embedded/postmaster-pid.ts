import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What PostgreSQL writes about itself while it runs, and leaves behind when it is killed. */
export interface PostmasterPid {
  pid: number;
  port: number;
}

/** No system gives a process this number. */
const NOBODY = 999_999_999;

/** Null when there is none, or it is not written to its end yet. Lines: pid, data folder, start time, port, … */
export function readPostmasterPid(cluster: string): PostmasterPid | null {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    return pid > 0 && port > 0 ? { pid, port } : null;
  } catch {
    return null;
  }
}

/**
 * Whether the process is there, and is a PostgreSQL. The number of a killed one may belong to any program by now, as it
 * does in a container that was started again.
 */
export function isPostgres(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const name = programOf(pid);
  return name === null || name.includes('postgres');
}

/**
 * Takes a foreign program's number out of the file: PostgreSQL would take the program for itself and refuse to start.
 * The rest stays, because with it PostgreSQL makes sure that no child of the killed server still writes.
 */
export function disown(cluster: string): void {
  const file = join(cluster, 'postmaster.pid');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(NOBODY)));
}

/** Null when the system does not tell. */
function programOf(pid: number): string | null {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/comm`, 'utf8');
    } catch {
      return null;
    }
  }
  const { status, stdout } = spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
  return status === 0 ? stdout : null;
}
