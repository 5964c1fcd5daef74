import { Logger } from '@nestjs/common';
import { mkdtempSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const logger = new Logger('scratch');

/** The name contains the id of the process that created the folder. */
const NAME = /^darkroom-(?:run|upload)-(\d+)-/;

/** Creates a folder for the files of one run, or of one request. The caller removes it. */
export const makeScratch = (kind: 'run' | 'upload' = 'run'): string =>
  mkdtempSync(join(tmpdir(), `darkroom-${kind}-${process.pid}-`));

/**
 * Removes a folder of `makeScratch`. Never fails: a paid result must not be lost because of a file that cannot be
 * deleted. A download that is being aborted may still add a file, so there are retries. A process that starts later
 * removes what is left.
 */
export async function removeScratch(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (err) {
    logger.warn({ event: 'scratch.left', folder, err });
  }
}

/** Removes folders of killed processes: a video can leave some hundred megabytes. Call this before the first run. */
export async function removeAbandonedScratch(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const pid = Number(NAME.exec(name)?.[1]);
    const folder = join(tmpdir(), name);
    if (Number.isNaN(pid) || (pid === process.pid ? !(await isOlderThanProcess(folder)) : isAlive(pid))) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined); // another user's folder
  }
}

/** In a container the process has the same id at every start, so the id alone does not identify it. */
async function isOlderThanProcess(folder: string): Promise<boolean> {
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
