import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { catalog } from '../../models/catalog.ts';
import { textOf } from '../../models/declaration/fault.ts';
import { ModelFolder } from '../../models/declaration/model-folder.ts';
import { type Config, ConfigError } from '../../platform/config/config.ts';
import { readPairs } from '../../platform/config/setting-types.ts';
import { checkBindings } from './check-bindings.ts';

type Given = Pick<Config, 'models' | 'dataDir' | 'openaiModelAliases'>;

/** The folder of the operator's models: the one that MODELS names, or `models` in DATA_DIR; null if there is none. */
export function modelsPath({ models, dataDir }: Pick<Given, 'models' | 'dataDir'>): string | null {
  const usual = join(dataDir, 'models');
  return models ?? (existsSync(usual) ? usual : null);
}

/**
 * @param createdAtOf returns the unix seconds at which an id was first loaded
 * @param more further ids that no model of the folder may have, each with what it is used for
 */
export function openModelFolder(
  path: string,
  config: Given,
  createdAtOf: (id: string) => number,
  more: ReadonlyMap<string, string> = new Map(),
): ModelFolder {
  const taken = new Map([...more, ...catalog.shipped.map(({ id }): [string, string] => [id, 'a built-in model'])]);
  for (const alias of readPairs(config.openaiModelAliases).keys()) taken.set(alias, 'OPENAI_MODEL_ALIASES');
  return new ModelFolder(path, { createdAtOf, taken, checkBindings });
}

/**
 * Loads the operator's models. Call this before any other code reads the catalog.
 * @throws ConfigError with every fault of every file, up to MAX_FAULTS
 */
export async function loadModels(config: Given): Promise<void> {
  const path = modelsPath(config);
  if (path === null) return;
  const folder = openModelFolder(path, config, today);
  let stamp, read;
  try {
    stamp = await folder.stamp();
    read = await folder.read();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError([`MODELS names ${path}, which cannot be read (${code ?? message})`]);
  }
  if (read.faults.length > 0) throw new ConfigError(read.faults.slice(0, MAX_FAULTS).map(textOf));
  catalog.declare(read.models);
  loaded = { folder, stamp };
}

let loaded: { folder: ModelFolder; stamp: string } | null = null;

/** The folder that `loadModels` has read, and its stamp at that time; null if there is none. */
export const loadedFolder = (): typeof loaded => loaded;

/** The most faults that are reported for all files together. */
export const MAX_FAULTS = 200;

/** Unix seconds at the beginning of this day (UTC). */
export const today = (): number => Math.floor(Date.now() / 86_400_000) * 86_400;
