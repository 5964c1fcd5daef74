import type { Delivery } from './webhooks.documents.ts';

type EventType = Delivery['eventType'];

/** `TASK_COMPLETED` is `task.completed` in REST, in deliveries and on the screen. */
export const eventName = (type: string): string => type.toLowerCase().replace('_', '.');

const EVENT_TYPES: readonly EventType[] = [
  'TASK_COMPLETED',
  'TASK_FAILED',
  'BATCH_COMPLETED',
  'BUDGET_THRESHOLD_REACHED',
  'BUDGET_EXCEEDED',
  'WEBHOOK_TEST',
];

/** The events to subscribe to: all but the test event. */
export const SUBSCRIBED = EVENT_TYPES.filter((type) => type !== 'WEBHOOK_TEST');

export const EVENT_NAMES: readonly string[] = EVENT_TYPES.map(eventName);

export const eventTypeOf = (name: string | undefined): EventType | undefined =>
  EVENT_TYPES.find((type) => eventName(type) === name);

/** Why an attempt failed, in words. */
export const ATTEMPT_FAULTS: Record<NonNullable<Delivery['error']>, string> = {
  BLOCKED_ADDRESS: 'The address is private, so the service does not call it',
  CONNECT_FAILED: 'Nothing answered at the address',
  DNS_FAILURE: 'The host name could not be resolved',
  HTTP_STATUS: 'The receiver refused it',
  TIMEOUT: 'The receiver took too long',
  TLS_ERROR: 'The certificate of the receiver is not valid',
};
