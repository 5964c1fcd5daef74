import { accessSync, chmodSync, closeSync, constants, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const SQLITE_BUSY = 5;
const RETRY_MS = 25;

/**
 * Runs `work` while no other process, and no other call in this process, holds the same file. Uses SQLite's file lock,
 * because the operating system releases this lock when its holder dies. So a killed process blocks no other process,
 * and no stale lock file has to be interpreted.
 * @param waitMs how long to wait for another holder
 */
export async function withExclusiveFile<T>(path: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const file = open(path);
  try {
    const giveUpAt = Date.now() + waitMs;
    while (!tryLock(file)) {
      if (Date.now() > giveUpAt) throw new Error(`Another process has held ${path} for ${waitMs / 1000} s.`);
      await sleep(RETRY_MS);
    }
    return await work();
  } finally {
    file.close();
  }
}

function open(path: string): DatabaseSync {
  try {
    restrict(path);
    return new DatabaseSync(path, { timeout: 0 });
  } catch (cause) {
    throw new Error(`${path} cannot be opened; its folder must be writable for the user that runs Darkroom.`, {
      cause,
    });
  }
}

/**
 * Creates the file with mode 0600. SQLite would use 0644: then any local user could hold a read lock on the file, and
 * so prevent the start. A file that exists is not opened here: closing it would release every lock that this process
 * has on it (POSIX).
 */
function restrict(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  accessSync(path, constants.R_OK | constants.W_OK); // a lock on a read-only file keeps nobody out
  try {
    chmodSync(path, 0o600); // for a file that an earlier release created
  } catch (error) {
    // EPERM: the file belongs to another user. It is enough that this process can lock it.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

function tryLock(file: DatabaseSync): boolean {
  try {
    file.exec('begin exclusive');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
