import { createHash } from 'node:crypto';

/**
 * The id that the service gives to a task's k-th run, so that a run whose submission got no answer can be looked up.
 * @returns a UUID in lower case, because newer servers accept nothing else
 */
export function promptId(taskId: string, run: number): string {
  return uuidOf(`run ${run} of ${taskId}`);
}

/**
 * The id of the socket that receives a task's progress. It is the same in every attempt of the task. So a worker that
 * takes over the task receives the progress too.
 */
export const clientId = (taskId: string): string => uuidOf(`client of ${taskId}`);

/**
 * A seed of 31 bits, the smallest range among ComfyUI's seed inputs. It is the same in every attempt of a run, so that
 * every attempt requests the same image.
 */
export function seedOf(taskId: string, run: number): number {
  return digest(`seed ${run} of ${taskId}`).readUInt32BE(0) >>> 1;
}

/** A UUID of version 8, which is for ids of an application's own scheme (RFC 9562). */
function uuidOf(text: string): string {
  const hex = digest(text).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
