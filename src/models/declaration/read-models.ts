import { basename } from 'node:path';
import type { Model } from '../definition/model.ts';
import { checkDeclaration } from './check-declaration.ts';
import type { Declaration } from './declaration.ts';
import { modelOf } from './model-of.ts';
import { fitsSchema } from './schema-faults.ts';
import type { ReadWorkflow } from './workflows.ts';
import type { YamlFile } from './yaml-file.ts';

/** The most bytes of one declaration. */
export const MAX_FILE_BYTES = 262_144;

export type CheckBindings = (file: YamlFile, model: Declaration, workflows: ReadonlyMap<string, unknown>) => void;

export interface ReadOptions {
  /** Whether an operator wrote the file. */
  declared: boolean;
  /** Unix seconds. Used for a declaration without `created`. */
  createdAt: number;
  /** Checks the bindings, whose rules are in src/providers. Adds what is wrong to `file.faults`. */
  checkBindings?: CheckBindings;
  /** The workflow files that the bindings may name, by name. */
  workflows?: ReadonlyMap<string, ReadWorkflow>;
}

/** @returns the model of a file; null if there are faults, which are in `file.faults` */
export function readOpened(file: YamlFile, options: ReadOptions): Model | null {
  const { checkBindings, workflows: files = new Map(), ...about } = options;
  if (file.faults.length > 0) return null;
  // Built-in files skip this: compiling the schema would add 0.1 s to each start. A test validates them instead.
  if (options.declared && !fitsSchema(file)) return null;
  const declaration = file.value as Declaration;
  checkDeclaration(file, declaration);
  const workflows = workflowsOf(file, declaration, files);
  if (file.faults.length > 0) return null; // the bindings name parameters and workflows, which must be right first
  checkBindings?.(file, declaration, workflows);
  return file.faults.length > 0 ? null : modelOf(declaration, { ...about, file: basename(file.name), workflows });
}

function workflowsOf(
  file: YamlFile,
  { bindings }: Declaration,
  files: ReadonlyMap<string, ReadWorkflow>,
): Map<string, unknown> {
  const workflows = new Map<string, unknown>();
  bindings.forEach(({ workflow }, at) => {
    if (workflow === undefined) return;
    const read = files.get(workflow) ?? { fault: 'cannot be read (ENOENT)' };
    if ('value' in read) workflows.set(workflow, read.value);
    else file.fault(['bindings', at, 'workflow'], `workflow "${workflow}" ${read.fault}`);
  });
  return workflows;
}
