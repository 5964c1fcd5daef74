import { typeidUnboxed } from 'typeid-js';
import { TYPE_ID_SUFFIX, typeIdPattern, typeIdTest } from '../platform/schema/type-id.ts';

export const TASK_ID = typeIdPattern('task');
const FILE_ID = new RegExp(`^file_(${TYPE_ID_SUFFIX})_([0-9]{1,3})$`);

/**
 * TypeID: `task_` + 26 characters of base32. The first ten are the time, so ids sort by creation.
 * @param ms since 1970
 */
export const newTaskId = (ms: number = Date.now()): string =>
  idBoundAt(ms) + typeidUnboxed('task').slice('task_'.length + TIME_DIGITS);

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_DIGITS = 10;
const LAST_MS = 2 ** 48 - 1;

/**
 * A bound that sorts below every id of this millisecond or later, and above every earlier id.
 * @param ms since 1970; clamped to the times that an id can have
 * @param prefix of the ids, which have the form of those of tasks
 */
export function idBoundAt(ms: number, prefix = 'task'): string {
  let rest = Math.min(Math.max(ms, 0), LAST_MS);
  let time = '';
  for (let digit = 0; digit < TIME_DIGITS; digit += 1) {
    time = DIGITS[rest % 32] + time;
    rest = Math.floor(rest / 32);
  }
  return `${prefix}_${time}`;
}

/**
 * The time in the id of a batch. The ids of its tasks have the same time, which makes them a range of ids.
 * @returns milliseconds since 1970; null for a malformed id
 */
export function createdMsOf(batchId: string): number | null {
  if (!isBatchId(batchId)) return null;
  let ms = 0;
  for (const digit of batchId.slice('batch_'.length, 'batch_'.length + TIME_DIGITS))
    ms = ms * 32 + DIGITS.indexOf(digit);
  return ms;
}

/** @param ms since 1970 */
export const newBatchId = (ms: number): string => newTaskId(ms).replace('task_', 'batch_');

export const BATCH_ID = typeIdPattern('batch');
export const isBatchId = typeIdTest('batch');

export const isTaskId = typeIdTest('task');

/** A file's id contains its task's id, so files need no table. */
export const fileIdOf = (taskId: string, index: number): string => `file_${taskId.slice('task_'.length)}_${index}`;

export function parseFileId(fileId: string): { taskId: string; index: number } | null {
  const [, suffix, index] = FILE_ID.exec(fileId) ?? [];
  return suffix === undefined ? null : { taskId: `task_${suffix}`, index: Number(index) };
}
