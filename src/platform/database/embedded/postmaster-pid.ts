import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The content of postmaster.pid, which PostgreSQL writes while it runs, and leaves behind when it is killed. */
export interface PostmasterPid {
  pid: number;
  port: number;
}

/** No operating system assigns this process id. */
const UNUSED_PID = 999_999_999;

/** Null when the file is missing or incomplete. Lines of the file: pid, data folder, start time, port, … */
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
 * Whether the process exists and is a PostgreSQL by its name. A process whose name is unknown counts as a PostgreSQL.
 * After PostgreSQL was killed, another program may get its process id. In a restarted container this is common.
 */
export function isPostgres(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const name = programNameOf(pid);
  return name === null || name.includes('postgres');
}

/**
 * Replaces a process id that now belongs to another program: PostgreSQL would take that program for a running server
 * and refuse to start. The other lines stay, because PostgreSQL uses them to check that no child of the killed server
 * still writes.
 */
export function clearStalePid(cluster: string): void {
  const file = join(cluster, 'postmaster.pid');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(UNUSED_PID)));
}

/** Null when the operating system does not reveal the name. */
function programNameOf(pid: number): string | null {
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
