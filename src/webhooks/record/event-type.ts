import { defineChoice } from '../../platform/schema/choice.ts';

/** The events at the end of a task. An endpoint that names no events receives these. */
export const TASK_EVENT_TYPES = ['task.completed', 'task.failed'] as const;
export type TaskEventType = (typeof TASK_EVENT_TYPES)[number];

/**
 * The events that an endpoint can subscribe to. Events that are not about a task go only to endpoints that name them.
 */
export const EVENT_TYPES = [
  ...TASK_EVENT_TYPES,
  'batch.completed',
  'budget.threshold_reached',
  'budget.exceeded',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * An event that is sent on demand to one endpoint. It has a type of its own, so that no receiver mistakes it for the
 * end of a task.
 */
export const TEST_EVENT = 'webhook.test';
export type AnyEventType = EventType | typeof TEST_EVENT;

export const EventTypeChoice = defineChoice(
  'WebhookEventType',
  EVENT_TYPES,
  'An event that a webhook endpoint can receive.',
);
export const AnyEventTypeChoice = defineChoice(
  'WebhookDeliveryEventType',
  [...EVENT_TYPES, TEST_EVENT],
  'The type of a delivered event.',
);
