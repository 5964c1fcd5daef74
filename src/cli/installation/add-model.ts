import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { textOf } from '../../models/declaration/fault.ts';
import type { Model } from '../../models/definition/model.ts';
import { loadModelSettings } from '../../platform/config/config.ts';
import { ROOT_FOLDER } from '../../platform/config/root-folder.ts';
import { modelsPath, openModelFolder, today } from '../../providers/bindings/load-models.ts';

/** Declarations that come with the service. Their models can be used once the declarations are added. */
const LIBRARY = `${ROOT_FOLDER}models/library`;

export interface AddedModel {
  model: Model;
  /** The whole path of the copied declaration. */
  file: string;
  /** The setting with which a service reads the folder of the file, such as `DATA_DIR is /srv/darkroom`. */
  readIf: string;
  /** Why the service probably reads another folder; null: nothing says so. */
  warning: string | null;
}

/**
 * Copies a declaration, with the workflows that it names, into the folder of models. No other declaration in that
 * folder may have its id or one of its aliases.
 * @param source a file, or the name of a declaration in the library
 * @throws Error that lists every fault; or when there is no such source, or a file would be replaced without `force`
 */
export async function addModel(
  source: string,
  { force = false }: { force?: boolean | undefined },
): Promise<AddedModel> {
  const from = fileOf(source);
  const settings = loadModelSettings();
  const folder = resolve(modelsPath(settings) ?? join(settings.dataDir, 'models'));
  const target = join(folder, basename(from));
  if (existsSync(target) && !force) throw new Error(`${target} is there already; --force replaces it.`);
  mkdirSync(folder, { recursive: true });
  const there = (await openModelFolder(folder, settings, today).read()).files.filter(
    ({ file }) => file.name !== target,
  );
  const names = there.flatMap(({ file, model }) =>
    (model ? [model.id, ...model.aliases] : []).map((name): [string, string] => [name, basename(file.name)]),
  );
  const { files } = await openModelFolder(dirname(from), settings, today, new Map(names)).read();
  const added = files.find(({ file }) => basename(file.name) === basename(from));
  if (!added) throw new Error(`${from} is not a declaration: its name must end in .yaml, .yml or .json.`);
  if (!added.model || added.faults.length > 0) throw new Error(added.faults.map(textOf).join('\n'));
  const copies = [...added.model.workflows.keys()].map(
    (name) => [join(dirname(from), name), join(folder, name)] as const,
  );
  // A workflow file of this name may be there already, with the workflow of another model.
  const other = copies.find(([source, copy]) => existsSync(copy) && !readFileSync(copy).equals(readFileSync(source)));
  if (other && !force) throw new Error(`${other[1]} is there already; --force replaces it.`);
  for (const [source, copy] of copies) place(source, copy);
  place(from, target); // last, because the service may read the folder at any moment
  return { model: added.model, file: target, ...readerOf(settings) };
}

/** Guesses from the settings of this command which folder the service reads, because no call of the API shows it. */
function readerOf({ models, dataDir }: ReturnType<typeof loadModelSettings>): Pick<AddedModel, 'readIf' | 'warning'> {
  if (models !== null) return { readIf: `MODELS is ${resolve(models)}`, warning: null };
  const isUsed = readdirSync(dataDir).some((name) => name !== 'models');
  const warning = `${dataDir} holds nothing but models. If your service runs already, its DATA_DIR is probably another.`;
  return { readIf: `DATA_DIR is ${dataDir}`, warning: isUsed ? null : warning };
}

function fileOf(source: string): string {
  if (existsSync(source)) return source;
  const inLibrary = join(LIBRARY, `${basename(source)}.yaml`);
  if (existsSync(inLibrary)) return inLibrary;
  throw new Error(`${source} is neither a file nor a name of the library.`);
}

/** Replaces the file in one step, so a reader sees the old file or the new one. */
function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  const unfinished = join(dirname(to), `.${basename(to)}.${process.pid}`);
  copyFileSync(from, unfinished);
  renameSync(unfinished, to);
}

/**
 * The environment variables that the model's bindings name as credentials and that are not set. A credential is also
 * set by the variable `<name>_FILE`.
 */
export function missingCredentials({ bindings }: Model, env: NodeJS.ProcessEnv): string[] {
  const named = bindings.map(({ credential }) => credential).filter((name) => typeof name === 'string');
  return [...new Set(named)].filter((name) => !env[name] && !env[`${name}_FILE`]);
}
