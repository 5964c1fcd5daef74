import type { TaskView } from '../../tasks/task.view.ts';
import type { AnyEventType, EventType } from './event-type.ts';

/** Contract 5: receivers may rely on it. */
export const MAX_BODY_BYTES = 20_000;

/** Left out, in this order, where the task is too long for a webhook; the receiver reads the task for them. */
const LEFT_OUT_FIRST = ['input', 'metadata'] as const;

/** The event that the end of a task is. */
export const eventTypeOf = (task: Pick<TaskView, 'status'>): EventType =>
  task.status === 'succeeded' ? 'task.completed' : 'task.failed';

/** The body of a webhook about a task: the bytes of every attempt, at most 20 kB of them. */
export function taskEventBody(id: string, task: TaskView, at: Date): string {
  const data: Partial<TaskView> = { ...task };
  const type = eventTypeOf(task);
  let body = eventBody(id, type, data, at);
  for (const field of LEFT_OUT_FIRST) {
    if (Buffer.byteLength(body) <= MAX_BODY_BYTES) break;
    delete data[field];
    body = eventBody(id, type, data, at);
  }
  return body;
}

/** @param at when it came to be; both clocks of the body show it */
export function eventBody(id: string, type: AnyEventType, data: object, at: Date): string {
  const created_at = Math.floor(at.getTime() / 1000);
  return JSON.stringify({ id, object: 'event', type, created_at, timestamp: at.toISOString(), data });
}
