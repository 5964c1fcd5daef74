import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import type { TimelineRow } from '../sql/read-timelines.ts';
import { MAX_MOMENTS, type Moment, MOMENT_TYPES, type MomentType } from '../record/moment.ts';

const TypeChoice = defineChoice('TaskMomentType', MOMENT_TYPES, 'What can happen to a task.');

@ObjectType('TaskMoment', { description: 'Something that happened to a task.' })
export class TaskMomentView {
  @ApiField.long('unix milliseconds') at_ms: number;
  @ApiField.oneOf(TypeChoice, 'what happened') type: MomentType;
  @ApiField.integer('number of the attempt; 0 before the first start') attempt: number;
  @ApiField.string('the provider; null if none took part, or if the operator hides it', { nullable: true })
  provider: string | null;
  @ApiField.string('the limit that holds the task, or the code of the error', { nullable: true }) detail: string | null;
}

export class TaskTimelineView {
  @ApiField.constant('list') object: 'list';
  @ApiField.list(() => TaskMomentView, 'oldest first, at most 200; if there were more, those in the middle are missing')
  data: TaskMomentView[];
  @ApiField.boolean('always false') has_more: boolean;
}

/** The timeline of a task: its stored moments, and the moments that other columns tell, in order of time. */
export function toTimeline(task: TimelineRow, revealProviders: boolean): TaskMomentView[] {
  const createdMs = task.created_at.getTime();
  const moments = [...beginOf(task), ...storedOf(task, 'running'), ...endOf(task)]
    // The creating process estimates the database's clock, so a claim may seem to come some milliseconds before the
    // creation.
    .map(([atMs, ...what]): Moment => [Math.max(atMs, createdMs), ...what])
    .toSorted(([a], [b]) => a - b);
  const middle = MAX_MOMENTS / 2;
  const kept = moments.filter((_, at) => at < middle || at >= moments.length - middle);
  return kept.map(([at_ms, type, attempt, provider, detail]) => ({
    at_ms,
    type,
    attempt,
    provider: revealProviders ? provider : null,
    detail,
  }));
}

/**
 * The moments until the first start. `started_at` is when the statement of the claim began. The last event that this
 * statement saw may be later. So the start never comes before that event.
 */
function beginOf(task: TimelineRow): Moment[] {
  const waiting: Moment[] = [[task.created_at.getTime(), 'queued', 0, null, null], ...storedOf(task, 'waiting')];
  if (!task.started_at) return waiting;
  const startedMs = Math.max(task.started_at.getTime(), waiting.at(-1)![0]);
  return [...waiting, [startedMs, 'started', 1, null, null]];
}

/** The stored moments before the first start (`waiting`), or the stored moments from the first start on (`running`). */
const storedOf = ({ timeline }: TimelineRow, state: 'waiting' | 'running'): Moment[] =>
  (timeline ?? []).filter(([, , attempt]) => (attempt === 0) === (state === 'waiting'));

function endOf({ status, completed_at: completed, attempt, error }: TimelineRow): Moment[] {
  if (!completed) return [];
  const atMs = completed.getTime();
  if (status === 'succeeded') return [[atMs, 'succeeded', attempt, null, null]];
  const failed: Moment = [atMs, 'failed', attempt, null, error?.code ?? null];
  // A cancel ends the task at once, so both moments have the same time. The provider learns of the cancel afterwards.
  return error?.code === 'task_cancelled' ? [[atMs, 'cancel_requested', attempt, null, null], failed] : [failed];
}
