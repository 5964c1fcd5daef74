import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mayUse } from '../auth/access/allowed-models.ts';
import type { Caller } from '../auth/access/caller.ts';
import { ConfigError } from '../platform/config/config.ts';
import { ROOT_FOLDER } from '../platform/config/root-folder.ts';
import { textOf } from './declaration/fault.ts';
import { readOpened } from './declaration/read-models.ts';
import { YamlFile } from './declaration/yaml-file.ts';
import { DEFAULT_MODEL } from './definition/default-model.ts';
import { MEDIA_KINDS } from './definition/media-kind.ts';
import { lifecycleOf, type Model } from './definition/model.ts';

/** The folder of the models that come with the service, one file for each. */
const BUILT_IN = `${ROOT_FOLDER}models/builtin`;

/**
 * The models that requests can name now. Every interface reads this catalog, so a new set of models reaches all of them
 * in one step. The catalog is a constant, because code that Nest does not construct, such as parsers and adapters,
 * reads it too.
 */
class Catalog {
  private builtIn: readonly Model[] | null = null;
  private declared: readonly Model[] = [];
  /** Models whose file is gone but that still have tasks. */
  private removed: readonly Model[] = [];
  private byId: ReadonlyMap<string, Model> | null = null;
  private listed: readonly Model[] = [];

  /** The models that come with the service. @throws ConfigError when the installation is broken */
  get shipped(): readonly Model[] {
    return (this.builtIn ??= readBuiltIn());
  }

  /**
   * Every model that has a file, in public order: those that come with the service, then those of the operator by id.
   */
  get models(): readonly Model[] {
    this.fill();
    return this.listed;
  }

  /** Also finds retired models, so check the lifecycle. */
  find(id: string): Model | undefined {
    return this.fill().get(id);
  }

  /** Finds a model only if it has a file. */
  loaded(id: string): Model | undefined {
    return this.models.find((model) => model.id === id);
  }

  /**
   * Replaces the models of the operator.
   * @param models sorted by id
   * @param removed models whose file is gone, which `models` does not list
   */
  declare(models: readonly Model[], removed: readonly Model[] = []): void {
    this.declared = models;
    this.removed = removed;
    this.byId = null;
  }

  private fill(): ReadonlyMap<string, Model> {
    if (this.byId) return this.byId;
    this.listed = [...this.shipped, ...this.declared];
    return (this.byId = new Map([...this.removed, ...this.listed].map((model) => [model.id, model])));
  }
}

/** The models of this process. */
export const catalog = new Catalog();

/** Also finds retired models, so check the lifecycle. */
export const findModel = (id: string): Model | undefined => catalog.find(id);

/** The models that a caller may use, in public order, without retired ones. */
export const modelsFor = (caller: Pick<Caller, 'models'>): Model[] =>
  catalog.models.filter((model) => lifecycleOf(model).status !== 'retired' && mayUse(caller, model));

/** Caches a value that `make` derives from the models. It is made again when the set of models has changed. */
export function perSet<Made>(make: () => Made): () => Made {
  let made: { of: readonly Model[]; value: Made } | undefined;
  return () => {
    if (made?.of !== catalog.models) made = { of: catalog.models, value: make() };
    return made.value;
  };
}

/** @throws ConfigError when the installation is broken; a missing folder counts as empty */
function readBuiltIn(): Model[] {
  const files = pathsIn(BUILT_IN).map((path) => new YamlFile(path, readFileSync(path)));
  const models = files.flatMap((file) => readOpened(file, { declared: false, createdAt: 0 }) ?? []);
  const faults = files.flatMap((file) => file.faults);
  if (faults.length > 0) throw new ConfigError(faults.map(textOf));
  return models.toSorted(byRecommendation);
}

function pathsIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
    return names.map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Images before videos. In each kind the default model comes first, then the rest by id. */
function byRecommendation(a: Model, b: Model): number {
  const rank = ({ id, kind }: Model): string =>
    `${MEDIA_KINDS.indexOf(kind)} ${id === DEFAULT_MODEL[kind] ? 0 : 1} ${id}`;
  return rank(a) < rank(b) ? -1 : 1;
}
