import { CALL_BUCKETS, WORK_BUCKETS } from '../../platform/observe/measuring/buckets.ts';
import { counter, histogram } from '../../platform/observe/measuring/declare.ts';
import type { ClaimedDispatch } from '../sql/claim-dispatches.ts';
import type { FinishedDelivery } from '../sql/finish-deliveries.ts';

const attempts = counter(
  'darkroom_webhook_attempts_total',
  'Attempts to deliver an event. A lost one was cut when its process stopped, and is repeated.',
  ['outcome', 'error_type', 'trigger'],
);

const seconds = histogram('darkroom_webhook_attempt_seconds', 'Time of one attempt.', CALL_BUCKETS, ['outcome']);

const lag = histogram(
  'darkroom_webhook_lag_seconds',
  'Time from an event, such as the end of a task, to the first attempt to deliver it, by the clock of the database.',
  WORK_BUCKETS,
);

export function attemptBegun({ attempt, trigger, lag_s }: ClaimedDispatch): void {
  if (attempt === 1 && trigger === 'scheduled') lag.observe(Math.max(0, lag_s));
}

export function attemptEnded({ outcome, error, trigger, duration_ms }: FinishedDelivery): void {
  attempts.inc({ outcome, trigger, ...(error !== null && { error_type: error }) });
  seconds.observe({ outcome }, duration_ms / 1000);
}
