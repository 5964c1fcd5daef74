import type { DoneTask, LiveTask } from '../record/task.entity.ts';

const WRITTEN_COLUMNS = [
  'status',
  'progress',
  'sequence',
  'completed_at',
  'usage',
  'result',
  'error',
  'files_expire_at',
] as const satisfies (keyof DoneTask)[];

/** The columns that the end of a task writes. */
export const WRITTEN = WRITTEN_COLUMNS.join(', ');

/**
 * The columns that move when a task ends: all that both tables have, without those that the end writes. The compiler
 * reports a missing one.
 */
const COLUMNS = Object.keys({
  id: true,
  api_key_id: true,
  kind: true,
  model: true,
  model_version: true,
  input: true,
  metadata: true,
  source: true,
  parent_task_id: true,
  relation: true,
  partial_images: true,
  batch_id: true,
  batch_index: true,
  custom_id: true,
  task_events: true,
  created_at: true,
  started_at: true,
  expires_at: true,
  request_approximations: true,
  request_id: true,
  trace_parent: true,
  low: true,
  budget_day: true,
  counts_for: true,
  attempt: true,
  losses: true,
  worker_id: true,
  deadline_at: true,
  provider: true,
  provider_url: true,
  provider_model: true,
  credential: true,
  submitted_at: true,
  upstream_id: true,
  upstream_request_id: true,
  approximations: true,
  submits: true,
  lost_submits: true,
  timeline: true,
} satisfies Record<Exclude<keyof LiveTask & keyof DoneTask, (typeof WRITTEN_COLUMNS)[number]>, true>);

export const MOVED = COLUMNS.join(', ');
/** The moved columns without the timeline, to which the end adds the last moments. */
export const MOVED_BUT_TIMELINE = COLUMNS.filter((column) => column !== 'timeline').join(', ');
