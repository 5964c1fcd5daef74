import { mkdir, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { FinishedTask, Output } from '@darkroom/client';
import { isTaskId } from '../../tasks/record/task-id.ts';

const EXTENSIONS: Record<string, string> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/webp': '.webp',
  'video/mp4': '.mp4',
  'video/webm': '.webm',
};

/** @returns the paths of the files */
export async function saveOutputs(task: FinishedTask, out: string): Promise<string[]> {
  // The id and the indexes become parts of file names: unchecked, a hostile service could write outside of the folder.
  if (!isTaskId(task.task_id)) throw new Error('The service answered with an invalid task id.');
  const invalid = task.outputs.some(({ index }) => !Number.isInteger(index));
  if (invalid) throw new Error('The service answered with an invalid index of an output.');
  const paths: string[] = [];
  for (const output of task.outputs) {
    paths.push(await output.save(await pathFor(output, task.task_id, out, task.outputs.length)));
  }
  return paths;
}

/**
 * `out` is a file name if the task has one output, and `out` has an extension and is not an existing folder. Otherwise
 * `out` is a folder. Missing folders are created.
 */
async function pathFor(output: Output, taskId: string, out: string, count: number): Promise<string> {
  const isFolder = (await stat(out).catch(() => null))?.isDirectory() ?? false;
  const isFile = count === 1 && extname(out) !== '' && !isFolder;
  await mkdir(isFile ? dirname(out) : out, { recursive: true });
  return isFile ? out : join(out, `${taskId}-${output.index}${EXTENSIONS[output.content_type] ?? ''}`);
}
