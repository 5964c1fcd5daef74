import { ApiError } from '../../errors/api-error.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import type { BatchFault } from '../record/batch-fault.ts';

/** One final item, as a line of the results. */
export interface ResultLine {
  /** Unique, and the same at every read of the results. */
  id: string;
  custom_id: string | null;
  index: number;
  task_id: string | null;
  response: { status_code: number; request_id: string | null; body: unknown } | null;
  error: { code: string; message: string; param?: string } | null;
}

export interface LineContext {
  batchId: string;
  /** The id of the request that created the batch. */
  requestId: string | null;
  /** What the endpoint of the batch would answer for the task. @throws ApiError when the files are gone */
  answer: (task: ShownTask) => unknown;
}

/** The line of a task that has ended. */
export function lineOfTask(task: ShownTask, { batchId, requestId, answer }: LineContext): ResultLine {
  const index = task.batch_index!;
  const line = { id: lineId(batchId, index), custom_id: task.custom_id, index, task_id: task.id };
  if (task.error) {
    const { code, message, param } = task.error;
    return { ...line, response: null, error: { code, message, ...(param !== undefined && { param }) } };
  }
  try {
    return { ...line, response: { status_code: 200, request_id: requestId, body: answer(task) }, error: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...line, response: null, error: { code: error.code, message: error.message } };
  }
}

/** The line of an item that never became a task. */
export function lineOfFault(fault: BatchFault, { batchId }: Pick<LineContext, 'batchId'>): ResultLine {
  const { index, custom_id, code, message, param } = fault;
  const error = { code, message, ...(param !== null && { param }) };
  return { id: lineId(batchId, index), custom_id, index, task_id: null, response: null, error };
}

const lineId = (batchId: string, index: number): string => `batch_req_${batchId.slice('batch_'.length)}_${index}`;
