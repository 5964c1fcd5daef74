import { ObjectType } from '@nestjs/graphql';
import { type MediaKind, MediaKindChoice } from '../models/media-kind.ts';
import { ApiField } from '../platform/schema/api-field.ts';
import { defineChoice } from '../platform/schema/choice.ts';
import type { FileLinks } from './files/file-links.ts';
import { TASK_ERRORS, type TaskErrorCode } from './task-error.ts';
import { TASK_STATUSES, type TaskStatus } from './task-status.ts';
import type { Approximation, ShownTask, StoredOutput } from './task.entity.ts';

export const TaskStatusChoice = defineChoice(
  'TaskStatus',
  TASK_STATUSES,
  'Where a task stands; the last two are final.',
);
const ErrorCodeChoice = defineChoice(
  'TaskErrorCode',
  Object.keys(TASK_ERRORS) as TaskErrorCode[],
  'Why a task failed.',
);

/** A file that a generation made. */
@ObjectType('TaskOutput', { description: 'A file that a generation made.' })
export class TaskOutputView {
  @ApiField.string('identifier of the file') id: string;
  @ApiField.integer('place among the outputs, from 0') index: number;
  @ApiField.oneOf(MediaKindChoice, 'what the file is') type: MediaKind;
  @ApiField.string('signed link to the bytes; works without the API key; null once the file is deleted', {
    nullable: true,
  })
  url: string | null;
  @ApiField.integer('unix seconds; read the task again for a new link', { nullable: true })
  url_expires_at: number | null;
  @ApiField.string('media type', { example: 'image/png' }) content_type: string;
  @ApiField.integer('bytes') size_bytes: number;
  @ApiField.integer('pixels') width: number;
  @ApiField.integer('pixels') height: number;
  @ApiField.number('seconds; videos only', { optional: true }) duration?: number;
  @ApiField.string('SHA-256 of the bytes, hex') sha256: string;
}

@ObjectType('TaskResult', { description: 'What a succeeded task made.' })
export class TaskResultView {
  @ApiField.list(() => TaskOutputView, 'the files, in order') outputs: TaskOutputView[];
  @ApiField.integer('unix seconds; the files are deleted then') expires_at: number;
}

@ObjectType('TaskError', { description: 'Why a task failed.' })
export class TaskErrorView {
  @ApiField.oneOf(ErrorCodeChoice, 'why, for programs') code: TaskErrorCode;
  @ApiField.string('why, for people') message: string;
  @ApiField.boolean('whether the same request may succeed later') retryable: boolean;
  @ApiField.string('the field of the input at fault', { optional: true, example: 'reference_images[0]' })
  param?: string;
}

@ObjectType('TaskApproximation', { description: 'A value that the provider could only come near to.' })
export class TaskApproximationView {
  @ApiField.string('the field of the input') param: string;
  @ApiField.string('the value asked for') requested: string;
  @ApiField.string('the value the provider could do') used: string;
}

/** The task as every client sees it: REST body, GraphQL type, event, webhook data. */
@ObjectType('Task', { description: 'A generation on its way: the record to follow, and its result.' })
export class TaskView {
  @ApiField.string('identifier to poll and to match webhooks by', { example: 'task_01jd8e5t9kf3qs7m2v4xw6yzab' })
  task_id: string;
  @ApiField.string('always "task"') object: 'task';
  @ApiField.oneOf(MediaKindChoice, 'what is made') kind: MediaKind;
  @ApiField.string('the model asked for') model: string;
  @ApiField.oneOf(TaskStatusChoice, 'where the task stands') status: TaskStatus;
  @ApiField.integer('percent; never falls while running', { min: 0, max: 100 }) progress: number;
  @ApiField.integer('unix seconds') created_at: number;
  @ApiField.integer('unix seconds; 0 while unfinished') completed_at: number;
  @ApiField.object(() => TaskResultView, 'only on a succeeded task', { optional: true }) result?: TaskResultView;
  @ApiField.object(() => TaskErrorView, 'only on a failed task', { optional: true }) error?: TaskErrorView;
  @ApiField.json('the parameters as resolved, defaults filled in') input: Record<string, unknown>;
  @ApiField.map('as given at creation') metadata: Record<string, string>;
  @ApiField.integer('unix seconds; 0 while queued') started_at: number;
  @ApiField.integer('unix seconds; the task is deleted then') expires_at: number;
  @ApiField.list(() => TaskApproximationView, 'what the provider could only come near to', { optional: true })
  approximations?: TaskApproximationView[];
}

/** One road from how a task is stored to how it is shown; links are signed anew. */
export function toTaskView(task: ShownTask, links: FileLinks): TaskView {
  return {
    task_id: task.id,
    object: 'task',
    kind: task.kind,
    model: task.model,
    status: task.status,
    progress: task.progress,
    created_at: unixSeconds(task.created_at),
    completed_at: unixSeconds(task.completed_at),
    ...(task.result && { result: toResult(task, task.result, links) }),
    ...(task.error && { error: task.error }),
    input: task.input,
    metadata: task.metadata,
    started_at: unixSeconds(task.started_at),
    expires_at: unixSeconds(task.expires_at),
    ...(task.approximations && { approximations: task.approximations.map(toApproximation) }),
  };
}

/** Whether the files of a succeeded task are still there; retention is kept to the second, however late the purge comes. */
export const filesPresent = (task: ShownTask, nowMs: number = Date.now()): boolean =>
  task.files_expire_at !== null && task.files_expire_at.getTime() > nowMs;

function toResult(task: ShownTask, outputs: StoredOutput[], links: FileLinks): TaskResultView {
  return {
    outputs: outputs.map(({ storage_key: _key, ...output }) => ({ ...output, ...linkTo(output.id, task, links) })),
    expires_at: unixSeconds(task.files_expire_at),
  };
}

function linkTo(fileId: string, task: ShownTask, links: FileLinks): Pick<TaskOutputView, 'url' | 'url_expires_at'> {
  if (!filesPresent(task)) return { url: null, url_expires_at: null };
  const { url, expiresAt } = links.sign(fileId, unixSeconds(task.files_expire_at));
  return { url, url_expires_at: expiresAt };
}

const toApproximation = ({ param, requested, used }: Approximation): TaskApproximationView => ({
  param,
  requested: String(requested),
  used: String(used),
});

const unixSeconds = (date: Date | null): number => (date ? Math.floor(date.getTime() / 1000) : 0);
