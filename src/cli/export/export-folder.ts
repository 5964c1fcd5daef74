import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The folder in that of an export for what is being written. What is here after a kill is not whole; the next export
 * removes it.
 */
const UNFINISHED = 'unfinished-export';
const MANIFEST = 'manifest.json';

/**
 * Makes the folder and, in it, the one in which the export is written.
 * @param names that the entries of the export get
 * @returns the folder to write to
 * @throws Error for the operator if anything but an unfinished export is in the folder
 */
export async function beginExport(folder: string, names: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await readdir(folder);
  const mayRemove = new Set([UNFINISHED, ...names]);
  const isUnfinished = found.includes(UNFINISHED) && found.every((name) => mayRemove.has(name));
  if (found.length > 0 && !isUnfinished)
    throw new Error(`${folder} is not empty. An export needs a folder of its own.`);
  // The mark goes last, so that this too can be interrupted.
  for (const name of [...found.filter((name) => name !== UNFINISHED), UNFINISHED])
    await rm(join(folder, name), { recursive: true, force: true });
  const draft = join(folder, UNFINISHED);
  await mkdir(draft, { mode: 0o700 });
  return draft;
}

/** Moves what is written to its place, the manifest last: a folder without one is an interrupted export. */
export async function finishExport(folder: string, manifest: object): Promise<void> {
  const draft = join(folder, UNFINISHED);
  const names = await readdir(draft);
  await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  for (const name of [...names, MANIFEST]) await rename(join(draft, name), join(folder, name));
  await rm(draft, { recursive: true });
}
