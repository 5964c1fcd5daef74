import { TypeID } from 'typeid-js';

/**
 * When a task was created. Its id starts with that time: 48 bits of milliseconds (UUIDv7). No job of the task is older.
 * @returns unix milliseconds
 */
export function taskTimeMs(taskId: string): number {
  const hex = TypeID.fromString(taskId).toUUID().replaceAll('-', '');
  return Number.parseInt(hex.slice(0, 12), 16);
}
