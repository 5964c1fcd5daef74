import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Declaration } from './declaration.ts';
import type { YamlFile } from './yaml-file.ts';

/** Of one workflow, in bytes. */
const MAX_WORKFLOW_BYTES = 2_097_152;

/** Reads the workflow files that the bindings of a declaration name. They lie in its folder. @returns them by name */
export function readWorkflows(file: YamlFile, folder: string, { bindings }: Declaration): Map<string, unknown> {
  const workflows = new Map<string, unknown>();
  bindings.forEach(({ workflow }, at) => {
    if (workflow === undefined || workflows.has(workflow)) return;
    const refuse = (message: string) => file.fault(['bindings', at, 'workflow'], `workflow "${workflow}" ${message}`);
    try {
      const path = realpathSync(join(folder, workflow));
      if (!path.startsWith(realpathSync(folder) + sep)) return refuse('is outside the folder');
      const { size } = statSync(path);
      if (size > MAX_WORKFLOW_BYTES) return refuse(`is ${size} bytes, at most ${MAX_WORKFLOW_BYTES}`);
      workflows.set(workflow, JSON.parse(readFileSync(path, 'utf8')));
    } catch (error) {
      if (error instanceof SyntaxError) return refuse('is no JSON');
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      // A path out of the folder says nothing of what is there.
      refuse(workflow.split('/').includes('..') ? 'is outside the folder' : `cannot be read (${code})`);
    }
  });
  return workflows;
}
