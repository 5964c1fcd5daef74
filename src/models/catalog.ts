import { readdirSync } from 'node:fs';
import { ConfigError } from '../platform/config/config.ts';
import { ROOT_FOLDER } from '../platform/config/root-folder.ts';
import { textOf } from './declaration/fault.ts';
import { openFile, readOpened } from './declaration/read-models.ts';
import { DEFAULT_MODEL } from './definition/default-model.ts';
import { MEDIA_KINDS } from './definition/media-kind.ts';
import type { Model } from './definition/model.ts';

/** The folder of the models that come with the service. A new one is a new file. */
const BUILT_IN = `${ROOT_FOLDER}models/builtin`;

/** Every model in public order. */
export const MODELS: readonly Model[] = readBuiltIn();

/** Also finds retired models; check the lifecycle. */
export function findModel(id: string, models: readonly Model[] = MODELS): Model | undefined {
  return models.find((model) => model.id === id);
}

/** @throws ConfigError when the installation is broken; without the folder there is no model */
function readBuiltIn(): Model[] {
  const files = namesIn(BUILT_IN).map((name) => openFile(BUILT_IN, name));
  const models = files.flatMap((file) => readOpened(BUILT_IN, file, { declared: false, createdAt: 0 }) ?? []);
  const faults = files.flatMap((file) => file.faults);
  if (faults.length > 0) throw new ConfigError(faults.map(textOf));
  return models.toSorted(byRecommendation);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Images before videos, of each kind the default first, then by id. */
function byRecommendation(a: Model, b: Model): number {
  const rank = ({ id, kind }: Model): string =>
    `${MEDIA_KINDS.indexOf(kind)} ${id === DEFAULT_MODEL[kind] ? 0 : 1} ${id}`;
  return rank(a) < rank(b) ? -1 : 1;
}
