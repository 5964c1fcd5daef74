import { ObjectType } from '@nestjs/graphql';
import { type MediaKind, MediaKindChoice } from '../../models/definition/media-kind.ts';
import { connectionOf } from '../../platform/graphql/connection.ts';
import { NodeView } from '../../platform/graphql/node.view.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import type { FileLinks } from './file-links.ts';
import { type TaskErrorCode, TaskErrorCodeChoice } from '../record/task-error.ts';
import { TASK_PRIORITIES, type TaskPriority } from '../record/task-priority.ts';
import { TASK_RELATIONS, type TaskRelation, type TaskSource, TaskSourceChoice } from '../record/task-origin.ts';
import { isKept } from '../record/stars.ts';
import {
  type Approximation,
  isFinal,
  type ShownTask,
  type StoredOutput,
  type TaskStatus,
  TaskStatusChoice,
} from '../record/task.entity.ts';
import { deliveredOf } from '../record/charge.ts';
import { COST_BASES, type CostBasis, type StoredUsage, type Tokens } from '../record/task-usage.ts';
import type { UsageTerms as Terms } from '../record/usage-terms.ts';
import { VariesBy } from '../../platform/openapi/variants.ts';

export const TaskPriorityChoice = defineChoice(
  'TaskPriority',
  TASK_PRIORITIES,
  'Whether a task waits behind those of normal priority.',
);
const RelationChoice = defineChoice('TaskRelation', TASK_RELATIONS, 'What a task is to its parent.');

type UsageTerms = Pick<Terms, 'currency' | 'revealProviders'>;

const CostBasisChoice = defineChoice('CostBasis', COST_BASES, 'How the cost of a task was found.');

@ObjectType('TokenUsage', { description: 'Tokens as the provider reported them.' })
export class TokenUsageView implements Tokens {
  @ApiField.long('tokens of the request') input: number;
  @ApiField.long('tokens of the answer') output: number;
}

@ObjectType('Cost', { description: 'An amount of money.' })
export class CostView {
  @ApiField.long('micro-units: 1,000,000 are 1 of the currency') amount_micros: number;
  @ApiField.string('ISO 4217', { example: 'USD' }) currency: string;
  @ApiField.oneOf(CostBasisChoice, 'how the cost was found') basis: CostBasis;
}

@ObjectType('TaskUsage', { description: 'What a task used and cost.' })
export class TaskUsageView {
  @ApiField.integer('images delivered') images: number;
  @ApiField.integer('whole seconds of video delivered') video_seconds: number;
  @ApiField.string('as resolved', { nullable: true, example: '2K' }) resolution: string | null;
  @ApiField.string('as resolved; null for a model without it', { nullable: true }) quality: string | null;
  @ApiField.string('the provider that served the task; null if none did, or if the operator hides it', {
    nullable: true,
    example: 'openai',
  })
  provider: string | null;
  @ApiField.integer('paid calls made for the task') submits: number;
  @ApiField.object(() => TokenUsageView, 'null when the provider reported none', { nullable: true })
  tokens: TokenUsageView | null;
  @ApiField.object(() => CostView, 'by the prices that were in force at the paid call') cost: CostView;
}

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
  @ApiField.long('the seed that the provider was sent; null when it was sent none', { nullable: true })
  seed: number | null;
  @ApiField.boolean('whether its owner keeps it: it is not deleted when its retention ends') kept: boolean;
  @ApiField.string('the name under which it is kept', { nullable: true }) collection: string | null;
}

@ObjectType('TaskResult', { description: 'The output of a succeeded task.' })
export class TaskResultView {
  @ApiField.list(() => TaskOutputView, 'the files, in order') outputs: TaskOutputView[];
  @ApiField.long('unix seconds; the files that are not kept are deleted at this time; null when all are kept', {
    nullable: true,
  })
  expires_at: number | null;
}

@ObjectType('TaskError', { description: 'Why a task failed.' })
export class TaskErrorView {
  @ApiField.oneOf(TaskErrorCodeChoice, 'reason, for programs') code: TaskErrorCode;
  @ApiField.string('reason, for people') message: string;
  @ApiField.boolean('whether the same request may succeed later') retryable: boolean;
  @ApiField.string('name of the parameter that caused the failure', { optional: true, example: 'reference_images[0]' })
  param?: string;
}

@ObjectType('TaskApproximation', { description: 'A requested value that the provider could only approximate.' })
export class TaskApproximationView {
  @ApiField.string('name of the parameter') param: string;
  @ApiField.string('the requested value') requested: string;
  @ApiField.string('the value the provider used') used: string;
}

@ObjectType('TaskBatch', { description: 'The place of a task in its batch.' })
export class TaskBatchView {
  @ApiField.string('identifier of the batch', { example: 'batch_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.integer('position among the items, from 0') index: number;
  @ApiField.string('the name that the client gave the item', { nullable: true }) custom_id: string | null;
}

const UNFINISHED = { requires: [], without: ['result', 'error', 'usage'] };
export const SUCCEEDED_IN_EVENT = 'SucceededTaskInEvent';
export const FAILED_IN_EVENT = 'FailedTaskInEvent';
/** Fields that a webhook leaves out when its body would be too long. */
const LEFT_OUT = ['input', 'metadata'];

/** The task as every client sees it: REST body, GraphQL type, server-sent event, webhook data. */
@VariesBy('status', {
  byValue: {
    queued: { name: 'QueuedTask', ...UNFINISHED },
    running: { name: 'RunningTask', ...UNFINISHED },
    succeeded: { name: 'SucceededTask', requires: ['result', 'usage'], without: ['error'] },
    failed: { name: 'FailedTask', requires: ['error', 'usage'], without: ['result'] },
  },
  shortened: {
    [SUCCEEDED_IN_EVENT]: { value: 'succeeded', optional: LEFT_OUT },
    [FAILED_IN_EVENT]: { value: 'failed', optional: LEFT_OUT },
  },
})
@ObjectType('Task', { description: 'A generation: its progress and its result.', implements: () => NodeView })
export class TaskView {
  @ApiField.string('identifier, for polling and for matching webhooks', { example: 'task_01jd8e5t9kf3qs7m2v4xw6yzab' })
  task_id: string;
  @ApiField.constant('task') object: 'task';
  @ApiField.oneOf(MediaKindChoice, 'kind of output') kind: MediaKind;
  @ApiField.string('the requested model') model: string;
  @ApiField.string('the version of the model that the task runs under; null in old tasks', { nullable: true })
  model_version: string | null;
  @ApiField.oneOf(TaskStatusChoice, 'status of the task') status: TaskStatus;
  @ApiField.integer('percent; never falls while running', { min: 0, max: 100 }) progress: number;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds; 0 while unfinished') completed_at: number;
  @ApiField.object(() => TaskResultView, 'only on a succeeded task', { optional: true }) result?: TaskResultView;
  @ApiField.object(() => TaskErrorView, 'only on a failed task', { optional: true }) error?: TaskErrorView;
  @ApiField.json('the parameters as resolved, defaults filled in') input: Record<string, unknown>;
  @ApiField.map('as given at creation') metadata: Record<string, string>;
  @ApiField.long('unix seconds; 0 while queued') started_at: number;
  @ApiField.long('unix seconds; the task is deleted at this time; null while it is kept', { nullable: true })
  expires_at: number | null;
  @ApiField.oneOf(TaskSourceChoice, 'the interface through which the task was created; "api" is REST and GraphQL')
  source: TaskSource;
  @ApiField.oneOf(TaskPriorityChoice, 'a task of low priority waits behind those of normal priority')
  priority: TaskPriority;
  @ApiField.string('the task that this one was made from; it may have been deleted since', { nullable: true })
  parent_task_id: string | null;
  @ApiField.oneOf(RelationChoice, 'what the task is to its parent', { nullable: true }) relation: TaskRelation | null;
  @ApiField.object(() => TaskBatchView, 'its place in the batch that it was created in', { nullable: true })
  batch: TaskBatchView | null;
  @ApiField.list(() => TaskApproximationView, 'requested values that the provider could only approximate', {
    optional: true,
  })
  approximations?: TaskApproximationView[];
  @ApiField.object(() => TaskUsageView, 'what the task used and cost; only on a final task', { optional: true })
  usage?: TaskUsageView;
  @ApiField.boolean('whether its owner keeps it, or one of its outputs: it is not deleted when its retention ends')
  kept: boolean;
  @ApiField.string('the name under which the task is kept', { nullable: true }) collection: string | null;
}

export class TaskListView extends listOf(TaskView, 'the tasks, newest first unless the request says otherwise') {}
export const TaskConnection = connectionOf(TaskView, 'Task');

@ObjectType('DeletedTask', { description: 'A task that was deleted.' })
export class DeletedTaskView {
  @ApiField.string('identifier that the task had') id: string;
  @ApiField.constant('task.deleted') object: 'task.deleted';
  @ApiField.boolean('always true') deleted: true;
}

export const toDeletedTaskView = (id: string): DeletedTaskView => ({ id, object: 'task.deleted', deleted: true });

/** The only mapping from a stored task to its view. Signs the links to its files. */
export function toTaskView(task: ShownTask, links: FileLinks, terms: UsageTerms): TaskView {
  return {
    task_id: task.id,
    object: 'task',
    kind: task.kind,
    model: task.model,
    model_version: task.model_version,
    status: task.status,
    progress: task.progress,
    created_at: unixSeconds(task.created_at),
    completed_at: unixSecondsOrZero(task.completed_at),
    ...(task.result && { result: toResult(task, task.result, links) }),
    ...(task.error && { error: task.error }),
    input: task.input,
    metadata: task.metadata,
    started_at: unixSecondsOrZero(task.started_at),
    expires_at: task.kept_at ? null : unixSeconds(task.expires_at),
    source: task.source,
    priority: task.low ? 'low' : 'normal',
    parent_task_id: task.parent_task_id,
    relation: task.relation,
    batch: toBatch(task),
    ...approximationsOf(task),
    ...(isFinal(task.status) && { usage: toUsageView(task, terms) }),
    kept: task.kept_at !== null,
    collection: task.collection,
  };
}

/**
 * Whether the files of a succeeded task are still available. This ends exactly at their expiry, however late the purge
 * runs.
 */
export const filesPresent = (task: ShownTask, nowMs: number = Date.now()): boolean =>
  task.files_expire_at !== null && task.files_expire_at.getTime() > nowMs;

/** Whether the bytes of an output are still there. */
export const isPresent = (task: ShownTask, output: StoredOutput, nowMs: number = Date.now()): boolean =>
  filesPresent(task, nowMs) && !output.deleted && (output.expires_at === undefined || output.expires_at * 1000 > nowMs);

/** How many outputs have an expiry of their own that has passed. */
export const lapsedOutputs = ({ result }: ShownTask, nowMs: number = Date.now()): number =>
  result?.filter(({ expires_at }) => expires_at !== undefined && expires_at * 1000 <= nowMs).length ?? 0;

/** When the bytes of an output expire, unix seconds. */
export const endOf = (task: ShownTask, { expires_at }: StoredOutput): number =>
  Math.floor(expires_at ?? unixSecondsOrZero(task.files_expire_at));

function toResult(task: ShownTask, outputs: StoredOutput[], links: FileLinks): TaskResultView {
  return {
    outputs: outputs.map((output) => {
      const { storage_key: _key, thumbnail_key: _thumbnail, deleted: _deleted, expires_at: _end, ...shown } = output;
      return {
        ...shown,
        seed: output.seed ?? null,
        ...linkTo(output, task, links),
        kept: task.kept_at !== null && isKept(output),
        collection: output.collection ?? null,
      };
    }),
    expires_at: firstEndOfFiles(task, outputs),
  };
}

/**
 * Unix seconds at which the first file is deleted; null if all files that are left are kept. If no file is left, it is
 * the expiry of the task's files.
 */
function firstEndOfFiles(task: ShownTask, outputs: StoredOutput[]): number | null {
  const isKeptNow = (output: StoredOutput) => task.kept_at !== null && isKept(output);
  const ends = outputs.flatMap((output) => (output.deleted || isKeptNow(output) ? [] : [endOf(task, output)]));
  if (ends.length > 0) return Math.min(...ends);
  return outputs.some(isKeptNow) ? null : unixSecondsOrZero(task.files_expire_at);
}

function linkTo(
  output: StoredOutput,
  task: ShownTask,
  links: FileLinks,
): Pick<TaskOutputView, 'url' | 'url_expires_at'> {
  if (!isPresent(task, output)) return { url: null, url_expires_at: null };
  const { url, expiresAt } = links.sign(output.id, endOf(task, output));
  return { url, url_expires_at: expiresAt };
}

const toBatch = ({ batch_id, batch_index, custom_id }: ShownTask): TaskBatchView | null =>
  batch_id === null ? null : { id: batch_id, index: batch_index!, custom_id };

/**
 * The approximations to show. If the interface and the provider have both approximated a parameter, one entry has the
 * value of the request and the value of the provider.
 */
function approximationsOf({ request_approximations, approximations }: ShownTask): Pick<TaskView, 'approximations'> {
  if (!request_approximations && !approximations) return {};
  const rest = new Map(approximations?.map((each) => [each.param, each]));
  const ofRequest = (request_approximations ?? []).map((each) => {
    const used = rest.get(each.param)?.used ?? each.used;
    rest.delete(each.param);
    return { ...each, used };
  });
  const all = [...ofRequest, ...rest.values()];
  return all.length > 0 ? { approximations: all.map(toApproximation) } : {};
}

const toApproximation = ({ param, requested, used }: Approximation): TaskApproximationView => ({
  param,
  requested: String(requested),
  used: String(used),
});

const unixSecondsOrZero = (date: Date | null): number => (date ? unixSeconds(date) : 0);

/**
 * The ETag of a task's view. The tag is weak, because links to files change while the task does not. It changes with
 * every visible change, and when files expire. It also changes four times within the lifetime of a link, because the
 * links change as often. So a body that a client reuses after 304 never contains an expired link.
 */
export function etagOf(task: ShownTask, linkTtlS: number, nowMs: number = Date.now()): string {
  if (task.status !== 'succeeded') return `W/"${task.sequence}"`;
  const period = filesPresent(task, nowMs) ? Math.floor(nowMs / (linkTtlS * 250)) : 'purged';
  const lapsed = lapsedOutputs(task, nowMs);
  return `W/"${task.sequence}-${period}${lapsed > 0 ? `x${lapsed}` : ''}"`;
}

/** The sequence of the task, read from a tag of `etagOf`; undefined for any other tag. */
export function sequenceIn(ifNoneMatch: string | undefined): number | undefined {
  const [, sequence] = /^(?:W\/)?"([0-9]{1,9})(?:-[0-9a-z]+)?"$/.exec(ifNoneMatch?.trim() ?? '') ?? [];
  return sequence === undefined ? undefined : Number(sequence);
}

function toUsageView(task: ShownTask, { currency, revealProviders }: UsageTerms): TaskUsageView {
  const { resolution, quality } = task.input;
  const used = task.usage ?? usageOfOldTask(task, currency);
  const { input_tokens: input, output_tokens: output } = used;
  return {
    ...deliveredOf(task.result ?? []),
    resolution: typeof resolution === 'string' ? resolution : null,
    quality: typeof quality === 'string' ? quality : null,
    provider: revealProviders ? used.provider : null,
    submits: task.submits,
    tokens: output === null ? null : { input: input ?? 0, output },
    cost: { amount_micros: used.cost_micros, currency: used.currency, basis: used.basis },
  };
}

/**
 * The usage of a task without stored usage. Such a task ended before usage was recorded, or because its API key was
 * revoked.
 */
const usageOfOldTask = ({ started_at }: Pick<ShownTask, 'started_at'>, currency: string): StoredUsage => ({
  provider: null,
  input_tokens: null,
  output_tokens: null,
  cost_micros: 0,
  currency,
  basis: started_at === null ? 'free' : 'unpriced',
});
