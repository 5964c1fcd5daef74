import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Fault } from '../../models/declaration/fault.ts';
import type { Model } from '../../models/definition/model.ts';
import { loadModelSettings } from '../../platform/config/config.ts';
import { modelsPath, openModelFolder, today } from '../../providers/bindings/load-models.ts';

/** A file that should declare a model, or a folder of such files, and its faults. */
export interface CheckedFile {
  file: string;
  model: Model | null;
  faults: Fault[];
}

/**
 * Checks files that declare models, or all such files of folders. A file is checked together with the other files of
 * its folder, because no two of them may declare the same name.
 * @param paths none: the folder of models, see `modelsPath`
 * @throws Error when no path is given and there is no folder of models
 */
export async function checkModels(paths: readonly string[]): Promise<CheckedFile[]> {
  const settings = loadModelSettings();
  const usual = paths.length === 0 ? modelsPath(settings) : null;
  if (paths.length === 0 && usual === null) {
    throw new Error('There is no folder of models: name one, or set MODELS.');
  }
  const checked: CheckedFile[] = [];
  for (const path of usual === null ? paths : [usual]) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) {
      checked.push(missing(path));
      continue;
    }
    const isFolder = found.isDirectory();
    const folder = isFolder ? path : dirname(path);
    const read = await openModelFolder(folder, settings, today).read();
    const files = read.files.map(({ file, model, faults }) => ({ file: file.name, model, faults }));
    if (isFolder) checked.push(...files, ...ofFolder(read.faults, folder));
    else checked.push(files.find(({ file }) => basename(file) === basename(path)) ?? missing(path));
  }
  return checked;
}

/** The faults of the folder itself: too many files, or too large ones. */
function ofFolder(faults: readonly Fault[], folder: string): CheckedFile[] {
  const own = faults.filter(({ file }) => file === folder);
  return own.length > 0 ? [{ file: folder, model: null, faults: own }] : [];
}

function missing(path: string): CheckedFile {
  const exists = statSync(path, { throwIfNoEntry: false }) !== undefined;
  const message = exists
    ? 'is not a declaration: its name must end in .yaml, .yml or .json'
    : 'cannot be read (ENOENT)';
  const file = join(path);
  return { file, model: null, faults: [{ file, line: 1, column: 1, path: 'file', message }] };
}
