import type { Delivery } from './webhooks.documents.ts';

export type Outcome = 'delivered' | 'failed' | 'waiting';

/** The outcome of an event by its newest attempt. */
export function outcomeOf({ attemptedAt, error, nextAttemptAt }: Delivery): Outcome {
  if (attemptedAt && !error) return 'delivered';
  return !attemptedAt || nextAttemptAt ? 'waiting' : 'failed';
}
