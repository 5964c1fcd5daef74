import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The sub-folder that an export is first written to. If the process is killed, it stays, and marks its parent folder as
 * an unfinished export. The next export to the same folder removes everything in it.
 */
const UNFINISHED = 'unfinished-export';
const MANIFEST = 'manifest.json';

/**
 * Creates the folder of the export and, inside it, the folder to write to.
 * @param names the names of the export's entries
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
  // UNFINISHED is removed last: until then it marks the folder as an unfinished export, even if the removal is
  // interrupted.
  for (const name of [...found.filter((name) => name !== UNFINISHED), UNFINISHED])
    await rm(join(folder, name), { recursive: true, force: true });
  const draft = join(folder, UNFINISHED);
  await mkdir(draft, { mode: 0o700 });
  return draft;
}

/**
 * Moves the written files to the folder of the export, the manifest last: a folder without a manifest is an interrupted
 * export.
 */
export async function finishExport(folder: string, manifest: object): Promise<void> {
  const draft = join(folder, UNFINISHED);
  const names = await readdir(draft);
  await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  for (const name of [...names, MANIFEST]) await rename(join(draft, name), join(folder, name));
  await rm(draft, { recursive: true });
}
