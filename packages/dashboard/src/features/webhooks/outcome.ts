import type { Delivery } from './webhooks.documents.ts';

export type Outcome = 'delivered' | 'failed' | 'waiting';

/** How an event stands by its newest attempt. */
export function outcomeOf({ attemptedAt, error, nextAttemptAt }: Delivery): Outcome {
  if (attemptedAt && !error) return 'delivered';
  return !attemptedAt || nextAttemptAt ? 'waiting' : 'failed';
}

/** `200 in 84 ms`, `503`, `No answer`. */
export function answerOf({ statusCode, durationMs, error, attemptedAt }: Delivery): string {
  if (!attemptedAt) return 'Waiting';
  if (statusCode === null) return 'No answer';
  return error ? String(statusCode) : `${statusCode} in ${durationMs} ms`;
}
