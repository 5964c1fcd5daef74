import type { DoneTask, LiveTask } from '../record/task.entity.ts';

/** What a task takes along when it ends. */
const COLUMNS = [
  'id',
  'api_key_id',
  'kind',
  'model',
  'model_version',
  'input',
  'metadata',
  'source',
  'parent_task_id',
  'relation',
  'partial_images',
  'batch_id',
  'batch_index',
  'custom_id',
  'task_events',
  'created_at',
  'started_at',
  'expires_at',
  'request_approximations',
  'request_id',
  'trace_parent',
  'low',
  'budget_day',
  'counts_for',
  'attempt',
  'losses',
  'worker_id',
  'deadline_at',
  'provider',
  'provider_url',
  'provider_model',
  'credential',
  'submitted_at',
  'upstream_id',
  'upstream_request_id',
  'approximations',
  'submits',
  'lost_submits',
  'timeline',
] as const satisfies (keyof LiveTask & keyof DoneTask)[];

export const MOVED = COLUMNS.join(', ');
/** The timeline gets the last moments with the end. */
export const MOVED_BUT_TIMELINE = COLUMNS.filter((column) => column !== 'timeline').join(', ');

/** What the end of a task writes. */
export const WRITTEN = (
  [
    'status',
    'progress',
    'sequence',
    'completed_at',
    'usage',
    'result',
    'error',
    'files_expire_at',
  ] as const satisfies (keyof DoneTask)[]
).join(', ');
