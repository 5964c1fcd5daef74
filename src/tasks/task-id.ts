import { typeid } from 'typeid-js';

const TASK_ID = /^task_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const FILE_ID = /^file_([0-7][0-9a-hjkmnp-tv-z]{25})_([0-9]{1,3})$/;

/** TypeID: `task_` + 26 characters of base32, of which the first ten are the time; so ids sort by creation. */
export const newTaskId = (): string => typeid('task').toString();

export const isTaskId = (text: string): boolean => TASK_ID.test(text);

/** Files need no table of their own: their id says whose they are. */
export const fileIdOf = (taskId: string, index: number): string => `file_${taskId.slice('task_'.length)}_${index}`;

export function parseFileId(fileId: string): { taskId: string; index: number } | null {
  const [, suffix, index] = FILE_ID.exec(fileId) ?? [];
  return suffix === undefined ? null : { taskId: `task_${suffix}`, index: Number(index) };
}
