import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The environment variable that names the folder of this test run. */
export const TEST_FOLDER = 'DARKROOM_TEST_FOLDER';
/** The prefix of the folder's name. The id of the process that made the folder follows. */
const PREFIX = 'darkroom-test-';

/**
 * Makes a folder for a data directory named `data`. Other users may enter it, because under root the database runs as
 * another user.
 */
export function makeTestFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o711);
  return folder;
}

/** The file with the process id of a Jest worker's service. The service is ended with the run. */
export const sharedPidFile = (folder: string, worker: string): string => join(folder, `${worker}.pid`);

/** Kills the shared processes and the database of the folder, without keeping their data, and removes the folder. */
export async function removeTestFolder(folder: string): Promise<void> {
  const pidFiles = readdirSync(folder).filter((name) => name.endsWith('.pid'));
  for (const name of pidFiles) await end(pidIn(join(folder, name)), 'dist/main.js', 'SIGKILL');
  await end(pidIn(join(folder, 'data/postgres/postmaster.pid')), 'postgres', 'SIGQUIT');
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the folders of earlier runs. A killed run leaves its database running. */
export async function removeAbandonedFolders(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX))) {
    const run = Number.parseInt(name.slice(PREFIX.length));
    if (run > 0 && signal(run, 0)) continue;
    await removeTestFolder(join(tmpdir(), name)).catch(() => undefined); // the folder belongs to another user
  }
}

/** @param program part of the command of the process, because another process may have got the id of an ended one */
async function end(pid: number | null, program: string, name: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
  if (!pid || !commandOf(pid).includes(program) || !signal(pid, name)) return;
  for (let waited = 0; waited < 200 && signal(pid, 0); waited++) await sleep(50);
}

function commandOf(pid: number): string {
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}

/** The process id in the first line of a file, which PostgreSQL or a test wrote. */
function pidIn(path: string): number | null {
  try {
    return Number(readFileSync(path, 'utf8').split('\n')[0]) || null;
  } catch {
    return null;
  }
}

/** @returns whether the process exists and may be signalled */
function signal(pid: number, name: 'SIGKILL' | 'SIGQUIT' | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
