import { defineChoice } from '../../platform/schema/choice.ts';

/** What an endpoint can ask to be told: the two ends of a task. */
export const EVENT_TYPES = ['task.completed', 'task.failed'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Sent on demand only, to one endpoint, so that nobody takes it for the end of a task. */
export const TEST_EVENT = 'webhook.test';
export type AnyEventType = EventType | typeof TEST_EVENT;

export const EventTypeChoice = defineChoice('WebhookEventType', EVENT_TYPES, 'What a webhook endpoint can be told.');
export const AnyEventTypeChoice = defineChoice(
  'WebhookDeliveryEventType',
  [...EVENT_TYPES, TEST_EVENT],
  'What a delivery told.',
);
