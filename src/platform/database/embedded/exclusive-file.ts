import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const SQLITE_BUSY = 5;
const RETRY_MS = 25;

/**
 * Runs `act` while no other process (or other call in this one) holds the same file. SQLite's file lock is used because
 * the operating system drops it with its holder: a killed process blocks nobody, and no stale file has to be judged.
 * @param waitMs how long to wait for another holder
 */
export async function withExclusiveFile<T>(path: string, waitMs: number, act: () => Promise<T>): Promise<T> {
  const file = open(path);
  try {
    const giveUpAt = Date.now() + waitMs;
    while (!tryLock(file)) {
      if (Date.now() > giveUpAt) throw new Error(`Another process has held ${path} for ${waitMs / 1000} s.`);
      await sleep(RETRY_MS);
    }
    return await act();
  } finally {
    file.close();
  }
}

function open(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (cause) {
    throw new Error(`${path} cannot be opened; its folder must be writable for the user that starts Darkroom.`, {
      cause,
    });
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
