import { unixSeconds } from '../../platform/schema/time.ts';
import type { TaskView } from '../../tasks/read/task.view.ts';
import type { AnyEventType, TaskEventType } from './event-type.ts';

/** The maximum size of a body in bytes. Receivers rely on this limit: it is part of the public contract. */
export const MAX_BODY_BYTES = 20_000;

/**
 * Fields that are removed, in this order, from a task that is too long for a webhook. The receiver reads them from the
 * API.
 */
const REMOVED_FIRST = ['input', 'metadata'] as const;

/** The event type for the final state of a task. */
export const eventTypeOf = (task: Pick<TaskView, 'status'>): TaskEventType =>
  task.status === 'succeeded' ? 'task.completed' : 'task.failed';

/** The body of a task's webhook, at most 20 kB. Every attempt sends the same bytes. */
export function taskEventBody(id: string, task: TaskView, at: Date): string {
  const event = { id, type: eventTypeOf(task), data: task, at };
  return fittingEventBody(event, REMOVED_FIRST);
}

/** @param removedFirst fields of the data that are left out, in this order, while the body is longer than 20 kB */
export function fittingEventBody<Data extends object>(
  { id, type, data, at }: { id: string; type: AnyEventType; data: Data; at: Date },
  removedFirst: readonly (keyof Data)[],
): string {
  const shown: Partial<Data> = { ...data };
  let body = eventBody(id, type, shown, at);
  for (const field of removedFirst) {
    if (Buffer.byteLength(body) <= MAX_BODY_BYTES) break;
    delete shown[field];
    body = eventBody(id, type, shown, at);
  }
  return body;
}

/** @param at the time of the event's creation; the body has it as unix seconds and as an ISO timestamp */
export function eventBody(id: string, type: AnyEventType, data: object, at: Date): string {
  const created_at = unixSeconds(at);
  return JSON.stringify({ id, object: 'event', type, created_at, timestamp: at.toISOString(), data });
}
