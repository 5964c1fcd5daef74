import { typeidUnboxed } from 'typeid-js';
import { ApiError } from '../../errors/api-error.ts';
import { TIME_DIGITS, idBoundAt, timeOfId } from '../../platform/schema/time.ts';
import { TYPE_ID_SUFFIX, typeIdPattern, typeIdTest } from '../../platform/schema/type-id.ts';

export const TASK_ID = typeIdPattern('task');
const FILE_ID = new RegExp(`^file_(${TYPE_ID_SUFFIX})_([0-9]{1,3})$`);

/**
 * TypeID: `task_` + 26 characters of base32. The first ten are the time, so ids sort by creation.
 * @param ms since 1970
 */
export const newTaskId = (ms: number = Date.now()): string =>
  idBoundAt(ms) + typeidUnboxed('task').slice('task_'.length + TIME_DIGITS);

/**
 * The time in the id of a batch. The ids of its tasks contain the same time, so they are in one range of ids.
 * @returns milliseconds since 1970; null for a malformed id
 */
export function createdMsOf(batchId: string): number | null {
  return isBatchId(batchId) ? timeOfId(batchId) : null;
}

/** @param ms since 1970 */
export const newBatchId = (ms: number): string => newTaskId(ms).replace('task_', 'batch_');

export const BATCH_ID = typeIdPattern('batch');
export const isBatchId = typeIdTest('batch');

export const isTaskId = typeIdTest('task');

/** @throws ApiError invalid_value */
export function assertTaskId(param: 'after', id: string | null | undefined): void {
  if (typeof id !== 'string' || isTaskId(id)) return;
  throw new ApiError('invalid_value', { param, message: `${param} must be the id of a task.` });
}

/** A file's id contains its task's id, so files need no table. */
export const fileIdOf = (taskId: string, index: number): string => `file_${taskId.slice('task_'.length)}_${index}`;

export function parseFileId(fileId: string): { taskId: string; index: number } | null {
  const [, suffix, index] = FILE_ID.exec(fileId) ?? [];
  return suffix === undefined ? null : { taskId: `task_${suffix}`, index: Number(index) };
}
