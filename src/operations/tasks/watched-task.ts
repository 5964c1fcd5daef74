import type { Task } from '../../tasks/record/task.entity.ts';

export const STUCK_REASONS = ['over_time', 'lease_lapsed', 'parked_without_reason', 'dispatch_untaken'] as const;
export type StuckReason = (typeof STUCK_REASONS)[number];

export const WATCHED_STATES = ['waiting', 'parked', 'paused', 'running', 'stuck'] as const;
export type WatchedState = (typeof WATCHED_STATES)[number];

/** The columns that operators see. */
export const WATCHED_COLUMNS = [
  'id',
  'api_key_id',
  'kind',
  'model',
  'status',
  'parked',
  'paused_by',
  'low',
  'attempt',
  'losses',
  'worker_id',
  'lease_until',
  'created_at',
  'started_at',
  'deadline_at',
  'completed_at',
  'provider',
  'provider_url',
  'provider_model',
  'credential',
  'submitted_at',
  'upstream_id',
  'request_id',
] as const;

/** A task as operators see it, without anything that its owner sent or received. */
export type WatchedTask = Pick<Task, (typeof WATCHED_COLUMNS)[number]> & {
  error_code: string | null;
  /** Why the task seems stuck; null if it does not. */
  stuck: StuckReason | null;
};

/** Selects the unfinished tasks that match every given field. */
export interface TaskSelection {
  state?: WatchedState | null | undefined;
  worker_id?: string | null | undefined;
  provider?: string | null | undefined;
  api_key_id?: string | null | undefined;
  model?: string | null | undefined;
}

/** How many seconds a run of each model may take before it is suspicious. Both lists have the same order. */
export interface Suspicion {
  models: string[];
  seconds: number[];
}
