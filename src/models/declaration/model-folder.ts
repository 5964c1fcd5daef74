import { createHash } from 'node:crypto';
import { type Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, extname, join, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Model } from '../definition/model.ts';
import type { Fault } from './fault.ts';
import { namesFaults } from './names-faults.ts';
import { type CheckBindings, MAX_FILE_BYTES, readOpened } from './read-models.ts';
import { type ReadWorkflow, readWorkflow } from './workflows.ts';
import { YamlFile } from './yaml-file.ts';

const MAX_FILES = 500;
/** The most bytes of all declarations and workflows together. */
const MAX_FOLDER_BYTES = 33_554_432;
/** The most times in a row that a folder is read while it keeps changing. */
const MAX_READS = 5;
const EXTENSIONS = new Set(['.yaml', '.yml', '.json']);

export interface FolderOptions {
  /** Unix seconds of the day on which an id was first loaded. Used for declarations without `created`. */
  createdAtOf: (id: string) => number;
  /** Ids and aliases that are already used, each with its owner. */
  taken: ReadonlyMap<string, string>;
  checkBindings: CheckBindings;
}

/** All models of a folder, or what is wrong in its files. */
export interface ReadFolder {
  files: { file: YamlFile; model: Model | null; faults: Fault[] }[];
  /** Sorted by id. Empty if there is a fault. */
  models: Model[];
  faults: Fault[];
}

interface Known {
  stamp: string;
  file: YamlFile;
  model: Model | null;
}

/** A folder of declarations. A declaration is read again only after it or one of its workflows has changed. */
export class ModelFolder {
  private known = new Map<string, Known>();
  /** The paths of the workflows in the last reading, relative to the folder. */
  private workflows: readonly string[] = [];

  constructor(
    readonly path: string,
    private readonly options: FolderOptions,
  ) {}

  /** A text that changes whenever a file may have changed. @throws Error when the folder cannot be read */
  async stamp(): Promise<string> {
    const names = [...new Set([...(await this.names()), ...this.workflows])];
    const stamps = await Promise.all(names.map(async (name) => `${name} ${await this.stampOf(name)}`));
    return stamps.join('\n');
  }

  /**
   * Reads the folder until it does not change during a reading, so that no set of models mixes two states of the
   * folder.
   * @param stamp the stamp of the folder now
   * @returns what was read, with its stamp; null if the folder changed during each of MAX_READS readings
   * @throws Error when the folder cannot be read
   */
  async readWhole(stamp: string): Promise<(ReadFolder & { stamp: string }) | null> {
    for (let reads = 1; reads <= MAX_READS; reads++) {
      const read = await this.read();
      const after = await this.stamp();
      if (after === stamp) return { ...read, stamp };
      stamp = after;
    }
    return null;
  }

  /** Every model, or the faults of all files. @throws Error when the folder cannot be read */
  async read(): Promise<ReadFolder> {
    const names = await this.names();
    if (names.length > MAX_FILES) return this.refused(`has ${names.length} files, at most ${MAX_FILES}`);
    const opened = await this.declarations(names);
    const workflows = await this.readWorkflows(opened.map(({ file }) => file));
    const sizes = [...opened.map(({ stamp }) => sizeIn(stamp)), ...(await this.sizesOf([...workflows.keys()]))];
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > MAX_FOLDER_BYTES) return this.refused(`has ${bytes} bytes, at most ${MAX_FOLDER_BYTES}`);
    const known = new Map<string, Known>();
    for (const each of opened) known.set(each.file.name, await this.model(each, workflows));
    this.known = known;
    this.workflows = [...workflows.keys()];
    const all = [...known.values()];
    const more = namesFaults(
      all.map(({ file }) => file),
      this.options.taken,
    );
    const files = all.map(({ file, model }) => ({ file, model, faults: [...file.faults, ...(more.get(file) ?? [])] }));
    const faults = files.flatMap((each) => each.faults);
    const models = faults.length > 0 ? [] : files.flatMap(({ model }) => model ?? []);
    return { files, models: models.toSorted((a, b) => (a.id < b.id ? -1 : 1)), faults };
  }

  /**
   * The names of the files that may be declarations. Hidden files are left out, and so are symbolic links that do not
   * lead to a file inside the folder.
   */
  private async names(): Promise<string[]> {
    const inside = (await realpath(this.path)) + sep;
    const isFile = async (entry: Dirent): Promise<boolean> => {
      if (!entry.isSymbolicLink()) return entry.isFile();
      const target = await realpath(join(this.path, entry.name)).catch(() => null);
      return target !== null && target.startsWith(inside) && (await stat(target)).isFile();
    };
    const entries = (await readdir(this.path, { withFileTypes: true })).filter(
      ({ name }) => EXTENSIONS.has(extname(name)) && !name.startsWith('.'),
    );
    const are = await Promise.all(entries.map(isFile));
    return entries
      .filter((_, at) => are[at])
      .map(({ name }) => name)
      .toSorted();
  }

  private async stampOf(name: string): Promise<string> {
    const { size, mtimeMs, ino } = await stat(join(this.path, name)).catch(() => ({ size: 0, mtimeMs: 0, ino: 0 }));
    return `${size} ${mtimeMs} ${ino}`;
  }

  private async sizesOf(names: readonly string[]): Promise<number[]> {
    return (await Promise.all(names.map((name) => this.stampOf(name)))).map(sizeIn);
  }

  /**
   * Opens the declarations among the files. A JSON file that a binding names is the workflow of this binding, and not a
   * declaration.
   */
  private async declarations(names: readonly string[]): Promise<Omit<Known, 'model'>[]> {
    const isJson = (name: string): boolean => extname(name) === '.json';
    const yaml = await this.open(names.filter((name) => !isJson(name)));
    const workflows = new Set(yaml.flatMap(({ file }) => workflowsOf(file)));
    const json = await this.open(names.filter((name) => isJson(name) && !workflows.has(name)));
    const more = new Set(json.flatMap(({ file }) => workflowsOf(file)));
    const all = [...yaml, ...json.filter(({ file }) => !more.has(basename(file.name)))];
    return all.toSorted((a, b) => (a.file.name < b.file.name ? -1 : 1));
  }

  private async open(names: readonly string[]): Promise<Omit<Known, 'model'>[]> {
    const opened: Omit<Known, 'model'>[] = [];
    for (const name of names) {
      const path = join(this.path, name);
      const stamp = await this.stampOf(name);
      const known = this.known.get(path);
      opened.push(
        known?.stamp.startsWith(`${stamp}\n`)
          ? known
          : { stamp: `${stamp}\n`, file: await openFile(path, sizeIn(stamp)) },
      );
    }
    return opened;
  }

  private async readWorkflows(files: readonly YamlFile[]): Promise<Map<string, ReadWorkflow>> {
    const names = [...new Set(files.flatMap(workflowsOf))].filter((name) => WORKFLOW.test(name));
    const read = await Promise.all(names.map(async (name) => [name, await readWorkflow(this.path, name)] as const));
    return new Map(read);
  }

  /** The model of a file. It is the model of the last reading if neither the file nor its workflows have changed. */
  private async model(
    { file, stamp: own }: Omit<Known, 'model'>,
    workflows: ReadonlyMap<string, ReadWorkflow>,
  ): Promise<Known> {
    const [first = ''] = own.split('\n');
    const of = await Promise.all(workflowsOf(file).map((name) => this.stampOf(name)));
    const stamp = `${first}\n${of.join('\n')}`;
    const known = this.known.get(file.name);
    if (known?.file === file && known.stamp === stamp) return known;
    await setImmediate(); // lets other work run in between: hundreds of files may have changed
    // If only a workflow has changed, the file is read again, because the earlier `file.faults` may have faults of the
    // old workflow.
    const fresh = known?.file === file ? await openFile(file.name, sizeIn(own)) : file;
    const { createdAtOf, checkBindings } = this.options;
    const id = idOf(fresh);
    const createdAt = id === null ? 0 : createdAtOf(id);
    return { stamp, file: fresh, model: readOpened(fresh, { declared: true, createdAt, checkBindings, workflows }) };
  }

  private refused(message: string): ReadFolder {
    return { files: [], models: [], faults: [{ file: this.path, line: 1, column: 1, path: 'file', message }] };
  }
}

/** The pattern of a workflow's file name in models/schema.json. A text that does not match is not read. */
const WORKFLOW = /^[A-Za-z0-9._/-]{1,200}\.json$/;

/** A stamp begins with the size in bytes. */
const sizeIn = (stamp: string): number => Number.parseInt(stamp, 10);

/** @param size in bytes */
async function openFile(path: string, size: number): Promise<YamlFile> {
  try {
    if (size > MAX_FILE_BYTES) return YamlFile.broken(path, `is ${size} bytes, at most ${MAX_FILE_BYTES}`);
    return new YamlFile(path, await readFile(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return YamlFile.broken(path, `cannot be read (${code})`);
  }
}

/** A hash of the ids and versions of a set of models. Processes with the same set have the same hash. */
export function nameOfSet(models: readonly Model[]): string {
  const lines = models.map(({ id, version }) => `${id} ${version}`).toSorted();
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 12);
}

function workflowsOf({ value }: YamlFile): string[] {
  const { bindings } = (value ?? {}) as { bindings?: unknown };
  if (!Array.isArray(bindings)) return [];
  const names = bindings.map((each) => (each as { workflow?: unknown } | null)?.workflow);
  return names.filter((name) => typeof name === 'string');
}

export function idOf({ value }: YamlFile): string | null {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : null;
}
