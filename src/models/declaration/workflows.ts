import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** The most bytes of one workflow. */
const MAX_WORKFLOW_BYTES = 2_097_152;

/** The JSON of a workflow file, or what is wrong with it. */
export type ReadWorkflow = { value: unknown } | { fault: string };

/** @param name path of the file, relative to the folder of its declaration */
export async function readWorkflow(folder: string, name: string): Promise<ReadWorkflow> {
  try {
    const path = await realpath(join(folder, name));
    if (!path.startsWith((await realpath(folder)) + sep)) return { fault: 'is outside the folder' };
    const found = await stat(path);
    if (!found.isFile()) return { fault: 'is no file' };
    const { size } = found;
    if (size > MAX_WORKFLOW_BYTES) return { fault: `is ${size} bytes, at most ${MAX_WORKFLOW_BYTES}` };
    return { value: JSON.parse(await readFile(path, 'utf8')) };
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: 'is no JSON' };
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    // For a path with `..`, the fault does not say whether the file exists.
    return { fault: name.split('/').includes('..') ? 'is outside the folder' : `cannot be read (${code})` };
  }
}
