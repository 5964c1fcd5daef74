import { mkdtempSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** With the process id of the maker. */
const NAME = /^darkroom-run-(\d+)-/;

/** A folder of its own for the files of one run; whoever makes it removes it. */
export const makeScratch = (): string => mkdtempSync(join(tmpdir(), `darkroom-run-${process.pid}-`));

/** Removes the folders of processes that were killed: a film can be some hundred megabytes. Call before the first run. */
export async function removeAbandonedScratch(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const pid = Number(NAME.exec(name)?.[1]);
    const folder = join(tmpdir(), name);
    if (Number.isNaN(pid) || (pid === process.pid ? !(await isOlderThanWe(folder)) : isAlive(pid))) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined); // another user's
  }
}

/** In a container the process has the same id at every start. */
async function isOlderThanWe(folder: string): Promise<boolean> {
  const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Infinity }));
  return mtimeMs < performance.timeOrigin;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
