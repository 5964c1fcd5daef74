import { ObjectType } from '@nestjs/graphql';
import { type MediaKind, MediaKindChoice } from '../models/media-kind.ts';
import { ApiField } from '../platform/schema/api-field.ts';
import { defineChoice } from '../platform/schema/choice.ts';
import { unixSeconds } from '../platform/time.ts';
import type { FileLinks } from './files/file-links.ts';
import { TASK_ERRORS, type TaskErrorCode } from './task-error.ts';
import { TASK_STATUSES, type TaskStatus } from './task-status.ts';
import type { Approximation, ShownTask, StoredOutput } from './task.entity.ts';

export const TaskStatusChoice = defineChoice('TaskStatus', TASK_STATUSES, 'Status of a task; the last two are final.');
const ErrorCodeChoice = defineChoice(
  'TaskErrorCode',
  Object.keys(TASK_ERRORS) as TaskErrorCode[],
  'Why a task failed.',
);

@ObjectType('TaskOutput', { description: 'A generated file.' })
export class TaskOutputView {
  @ApiField.string('identifier of the file') id: string;
  @ApiField.integer('position among the outputs, from 0') index: number;
  @ApiField.oneOf(MediaKindChoice, 'kind of file') type: MediaKind;
  @ApiField.string('signed link to the file, which works without the API key; null once the file is deleted', {
    nullable: true,
  })
  url: string | null;
  @ApiField.long('unix seconds; read the task again for a new link', { nullable: true })
  url_expires_at: number | null;
  @ApiField.string('media type', { example: 'image/png' }) content_type: string;
  @ApiField.long('bytes') size_bytes: number;
  @ApiField.integer('pixels') width: number;
  @ApiField.integer('pixels') height: number;
  @ApiField.number('seconds; videos only', { optional: true }) duration?: number;
  @ApiField.string('SHA-256 of the bytes, hex') sha256: string;
}

@ObjectType('TaskResult', { description: 'The output of a succeeded task.' })
export class TaskResultView {
  @ApiField.list(() => TaskOutputView, 'the files, in order') outputs: TaskOutputView[];
  @ApiField.long('unix seconds; the files are deleted at this time') expires_at: number;
}

@ObjectType('TaskError', { description: 'Why a task failed.' })
export class TaskErrorView {
  @ApiField.oneOf(ErrorCodeChoice, 'reason, for programs') code: TaskErrorCode;
  @ApiField.string('reason, for people') message: string;
  @ApiField.boolean('whether the same request may succeed later') retryable: boolean;
  @ApiField.string('the input field that caused the failure', { optional: true, example: 'reference_images[0]' })
  param?: string;
}

@ObjectType('TaskApproximation', { description: 'A requested value that the provider could only approximate.' })
export class TaskApproximationView {
  @ApiField.string('the input field') param: string;
  @ApiField.string('the requested value') requested: string;
  @ApiField.string('the value the provider used') used: string;
}

/** The task as every client sees it: REST body, GraphQL type, server-sent event, webhook data. */
@ObjectType('Task', { description: 'A generation: its progress and its result.' })
export class TaskView {
  @ApiField.string('identifier, for polling and for matching webhooks', { example: 'task_01jd8e5t9kf3qs7m2v4xw6yzab' })
  task_id: string;
  @ApiField.string('always "task"') object: 'task';
  @ApiField.oneOf(MediaKindChoice, 'kind of output') kind: MediaKind;
  @ApiField.string('the requested model') model: string;
  @ApiField.oneOf(TaskStatusChoice, 'status of the task') status: TaskStatus;
  @ApiField.integer('percent; never falls while running', { min: 0, max: 100 }) progress: number;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds; 0 while unfinished') completed_at: number;
  @ApiField.object(() => TaskResultView, 'only on a succeeded task', { optional: true }) result?: TaskResultView;
  @ApiField.object(() => TaskErrorView, 'only on a failed task', { optional: true }) error?: TaskErrorView;
  @ApiField.json('the parameters as resolved, defaults filled in') input: Record<string, unknown>;
  @ApiField.map('as given at creation') metadata: Record<string, string>;
  @ApiField.long('unix seconds; 0 while queued') started_at: number;
  @ApiField.long('unix seconds; the task is deleted at this time') expires_at: number;
  @ApiField.list(() => TaskApproximationView, 'requested values that the provider could only approximate', {
    optional: true,
  })
  approximations?: TaskApproximationView[];
}

/** The only mapping from a stored task to its view. Signs new file links. */
export function toTaskView(task: ShownTask, links: FileLinks): TaskView {
  return {
    task_id: task.id,
    object: 'task',
    kind: task.kind,
    model: task.model,
    status: task.status,
    progress: task.progress,
    created_at: unixSeconds(task.created_at),
    completed_at: unixSecondsOrZero(task.completed_at),
    ...(task.result && { result: toResult(task, task.result, links) }),
    ...(task.error && { error: task.error }),
    input: task.input,
    metadata: task.metadata,
    started_at: unixSecondsOrZero(task.started_at),
    expires_at: unixSeconds(task.expires_at),
    ...(task.approximations && { approximations: task.approximations.map(toApproximation) }),
  };
}

/** Whether the files of a succeeded task are still available: exact to the second, however late the purge runs. */
export const filesPresent = (task: ShownTask, nowMs: number = Date.now()): boolean =>
  task.files_expire_at !== null && task.files_expire_at.getTime() > nowMs;

function toResult(task: ShownTask, outputs: StoredOutput[], links: FileLinks): TaskResultView {
  return {
    outputs: outputs.map(({ storage_key: _key, ...output }) => ({ ...output, ...linkTo(output.id, task, links) })),
    expires_at: unixSecondsOrZero(task.files_expire_at),
  };
}

function linkTo(fileId: string, task: ShownTask, links: FileLinks): Pick<TaskOutputView, 'url' | 'url_expires_at'> {
  if (!filesPresent(task)) return { url: null, url_expires_at: null };
  const { url, expiresAt } = links.sign(fileId, unixSecondsOrZero(task.files_expire_at));
  return { url, url_expires_at: expiresAt };
}

const toApproximation = ({ param, requested, used }: Approximation): TaskApproximationView => ({
  param,
  requested: String(requested),
  used: String(used),
});

const unixSecondsOrZero = (date: Date | null): number => (date ? unixSeconds(date) : 0);
