import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../definition/model.ts';
import { checkDeclaration } from './check-declaration.ts';
import type { Declaration } from './declaration.ts';
import { modelOf } from './model-of.ts';
import { fitsSchema } from './schema-faults.ts';
import { readWorkflows } from './workflows.ts';
import { YamlFile } from './yaml-file.ts';

/** Of one file, in bytes. */
export const MAX_FILE_BYTES = 262_144;

export interface ReadOptions {
  /** Whether an operator wrote the file. */
  declared: boolean;
  /** Unix seconds, for a declaration without a date. */
  createdAt: number;
  /** Checks the bindings, of which this room knows nothing. The file's faults get what is wrong. */
  checkBindings?: CheckBindings;
}

export type CheckBindings = (file: YamlFile, model: Declaration, workflows: ReadonlyMap<string, unknown>) => void;

/** Reads a file, whatever is in it. Its faults have what is wrong. */
export function openFile(folder: string, name: string): YamlFile {
  const path = join(folder, name);
  const broken = (message: string): YamlFile => {
    const file = new YamlFile(path, null);
    file.fault([], message);
    return file;
  };
  try {
    const { size } = statSync(path);
    if (size > MAX_FILE_BYTES) return broken(`is ${size} bytes, at most ${MAX_FILE_BYTES}`);
    return new YamlFile(path, readFileSync(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return broken(`cannot be read (${code})`);
  }
}

/** @returns the model of a file; null if something is wrong, which the faults of the file then have */
export function readOpened(folder: string, file: YamlFile, options: ReadOptions): Model | null {
  const { checkBindings, ...about } = options;
  if (file.faults.length > 0 || !fitsSchema(file)) return null;
  const declaration = file.value as Declaration;
  checkDeclaration(file, declaration);
  const workflows = readWorkflows(file, folder, declaration);
  // What the bindings name must be right first.
  if (file.faults.length > 0) return null;
  checkBindings?.(file, declaration, workflows);
  return file.faults.length > 0 ? null : modelOf(declaration, { ...about, workflows });
}
