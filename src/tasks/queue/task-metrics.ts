import { findModel } from '../../models/catalog.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import { WORK_BUCKETS } from '../../platform/observe/measuring/buckets.ts';
import { OTHER } from '../../platform/observe/measuring/closed-label.ts';
import { counter, histogram, OperatorCounts, Tally } from '../../platform/observe/measuring/declare.ts';
import type { ClaimedTask } from '../record/lease.ts';
import type { ShownTask } from '../record/task.entity.ts';
import type { Moment } from '../record/moment.ts';

/**
 * The value of the label `model`. A model that is not in the catalogue counts as OTHER, so the label has a bounded
 * number of values.
 */
const modelOf = (id: string): string => (findModel(id) ? id : OTHER);

const created = new Tally('darkroom_tasks_created_total', 'Tasks that this process stored.', ['model'], (model) => ({
  model,
}));

const ended = counter(
  'darkroom_tasks_ended_total',
  'Tasks that this process ended, by the provider that served them, if one did, and the code of a failure.',
  ['model', 'provider', 'status', 'error_code'],
);

/** Failed tasks by API key, for operators. A cancel is no failure. */
export const failuresByKey = new OperatorCounts();

const queueWait = histogram(
  'darkroom_task_queue_wait_seconds',
  'Time from the creation of a task to its first claim, by the clock of the database.',
  WORK_BUCKETS,
  ['kind', 'waited_for'],
);

const duration = histogram(
  'darkroom_task_duration_seconds',
  'Time from the creation of a task to its end, by the clock of the database.',
  WORK_BUCKETS,
  ['model', 'status'],
);

const stage = histogram('darkroom_task_stage_seconds', 'Time that a run spent in a stage.', WORK_BUCKETS, [
  'stage',
  'kind',
]);

const claims = counter(
  'darkroom_task_claims_total',
  'Claims of tasks: the first of a task, one of a lost worker, or one that a worker gave back.',
  ['reason'],
);

const leasesLost = counter(
  'darkroom_leases_lost_total',
  'Runs of this process whose task another process had taken over, by what found out.',
  ['found_by'],
);

export const foundLate = counter(
  'darkroom_live_found_late_total',
  'Ends of watched tasks that this process learned by looking, because no news of them had come.',
);

for (const reason of ['first', 'takeover', 'handover']) claims.inc({ reason }, 0);
for (const found_by of ['heartbeat', 'write']) leasesLost.inc({ found_by }, 0);

export type Stage = 'images' | 'submit' | 'upstream' | 'download' | 'store' | 'end';

export function tasksCreated(tasks: readonly Pick<ShownTask, 'model'>[]): void {
  for (const { model } of tasks) created.add(modelOf(model));
}

export function tasksClaimed(tasks: readonly ClaimedTask[]): void {
  for (const { attempt, kind, created_at, started_at, timeline } of tasks) {
    claims.inc({ reason: attempt === 1 ? 'first' : isOfLostWorker(timeline) ? 'takeover' : 'handover' });
    if (attempt > 1 || !started_at) continue;
    const waited_for = timeline?.some(([, type, , , detail]) => type === 'held' && detail === 'key_limit')
      ? 'own_limit'
      : 'capacity';
    queueWait.observe({ kind, waited_for }, secondsBetween(created_at, started_at));
  }
}

/**
 * Whether the last claim took the task over from a lost worker. Only such a claim adds `worker_lost` and then
 * `taken_over`.
 */
const isOfLostWorker = (timeline: readonly Moment[] | null): boolean =>
  timeline?.at(-1)?.[1] === 'taken_over' && timeline.at(-2)?.[1] === 'worker_lost';

export function taskEnded({ api_key_id, model, status, error, usage, created_at, completed_at }: ShownTask): void {
  if (error && error.code !== 'task_cancelled') failuresByKey.add(api_key_id);
  const provider = usage?.provider ?? null; // a worker has written it, so it is the name of an adapter
  ended.inc({
    model: modelOf(model),
    status,
    ...(provider !== null && { provider }),
    ...(error && { error_code: error.code }),
  });
  if (completed_at) duration.observe({ model: modelOf(model), status }, secondsBetween(created_at, completed_at));
}

/** @param sinceMs when the stage began, on the monotonic clock */
export function stageEnded(name: Stage, kind: MediaKind, sinceMs: number): void {
  stage.observe({ stage: name, kind }, (performance.now() - sinceMs) / 1000);
}

export function leaseLost(found_by: 'heartbeat' | 'write'): void {
  leasesLost.inc({ found_by });
}

const secondsBetween = (from: Date, to: Date): number => Math.max(0, (to.getTime() - from.getTime()) / 1000);
