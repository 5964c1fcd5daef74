import { TypeID } from 'typeid-js';

/**
 * When a task was made, which its id begins with: 48 bits of milliseconds (UUIDv7). Nothing was submitted for it before.
 * @returns unix milliseconds
 */
export function taskTimeMs(taskId: string): number {
  const hex = TypeID.fromString(taskId).toUUID().replaceAll('-', '');
  return Number.parseInt(hex.slice(0, 12), 16);
}
