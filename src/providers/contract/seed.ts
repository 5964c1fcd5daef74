import { createHash } from 'node:crypto';

/** 31 bits derived from the task id: every attempt of a task requests the same result. */
export function seedOf(taskId: string): number {
  return createHash('sha256').update(taskId).digest().readUInt32BE(0) >>> 1;
}
