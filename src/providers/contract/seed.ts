import { createHash } from 'node:crypto';
import type { ProviderRequest } from './provider.ts';

/** A seed of 31 bits, derived from the task id, so that every attempt of a task requests the same result. */
export function seedOf(taskId: string): number {
  return createHash('sha256').update(taskId).digest().readUInt32BE(0) >>> 1;
}

/** The seed of the call that makes the outputs from index `first` on. No two calls of a task have the same seed. */
export const seedAt = ({ input, taskId }: ProviderRequest, first: number): number =>
  (input.seed ?? seedOf(taskId)) + first;
