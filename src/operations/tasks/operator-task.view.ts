import { ObjectType } from '@nestjs/graphql';
import { type MediaKind, MediaKindChoice } from '../../models/definition/media-kind.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { type TaskStatus, TaskStatusChoice } from '../../tasks/record/task.entity.ts';
import { STUCK_REASONS, type StuckReason, type WatchedTask } from './watched-task.ts';
import { addressOf } from '../views/address-of.ts';

const WaitChoice = defineChoice('OperatorTaskWait', ['worker', 'key_limit', 'pause'], 'What a queued task waits for.');
const StuckChoice = defineChoice('TaskStuckReason', STUCK_REASONS, 'Why a task seems stuck.');

const NULLABLE = { nullable: true };

@ObjectType('OperatorTask', { description: 'A task of any API key as operators see it, without its content.' })
export class OperatorTaskView {
  @ApiField.string('identifier') task_id: string;
  @ApiField.constant('operator_task') object: 'operator_task';
  @ApiField.string('the API key that owns it') api_key_id: string;
  @ApiField.string('id of the model') model: string;
  @ApiField.oneOf(MediaKindChoice, 'kind of output') kind: MediaKind;
  @ApiField.oneOf(TaskStatusChoice, 'its status') status: TaskStatus;
  @ApiField.oneOf(WaitChoice, 'what a queued task waits for; null for the others', NULLABLE)
  waiting_for: 'worker' | 'key_limit' | 'pause' | null;
  @ApiField.string('the pause that holds it', NULLABLE) pause_id: string | null;
  @ApiField.oneOf(StuckChoice, 'why it seems stuck; null: it does not', NULLABLE) stuck: StuckReason | null;
  @ApiField.boolean('whether it waits behind the tasks of normal priority') low_priority: boolean;
  @ApiField.integer('number of the current claim; 0 before the first') attempt: number;
  @ApiField.integer('attempts that ended with a lost worker or job') losses: number;
  @ApiField.string('the process that runs it', NULLABLE) worker_id: string | null;
  @ApiField.long('unix seconds at which its lease ends', NULLABLE) lease_until: number | null;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds; null before the first start', NULLABLE) started_at: number | null;
  @ApiField.long('unix seconds; null while unfinished', NULLABLE) completed_at: number | null;
  @ApiField.long('unix seconds at which it fails') deadline_at: number;
  @ApiField.string('name of the provider that was called last', NULLABLE) provider: string | null;
  @ApiField.string('host of the provider; null for a model of the MODELS folder', NULLABLE)
  provider_host: string | null;
  @ApiField.string("the provider's own name for the model", NULLABLE) provider_model: string | null;
  @ApiField.string(
    'name of the variable that holds the key of the provider; null for a model of the MODELS folder',
    NULLABLE,
  )
  credential: string | null;
  @ApiField.long('unix seconds; recorded just before the paid call', NULLABLE) submitted_at: number | null;
  @ApiField.string("the provider's id for the job", NULLABLE) upstream_id: string | null;
  @ApiField.string('the `x-request-id` of its creation', NULLABLE) request_id: string | null;
  @ApiField.string('code of its error; null unless it failed', NULLABLE) error_code: string | null;
}

export const toOperatorTaskView = (task: WatchedTask): OperatorTaskView => ({
  task_id: task.id,
  object: 'operator_task',
  api_key_id: task.api_key_id,
  model: task.model,
  kind: task.kind,
  status: task.status,
  waiting_for: waitOf(task),
  pause_id: waitOf(task) === 'pause' ? task.paused_by : null,
  stuck: task.stuck,
  low_priority: task.low,
  attempt: task.attempt,
  losses: Math.max(task.losses, 0), // giving a task back lowers `losses`, and its next claim raises it again
  worker_id: task.worker_id,
  lease_until: seconds(task.lease_until),
  created_at: unixSeconds(task.created_at),
  started_at: seconds(task.started_at),
  completed_at: seconds(task.completed_at),
  deadline_at: unixSeconds(task.deadline_at),
  provider: task.provider,
  provider_host: placeOf(task).host,
  provider_model: task.provider_model,
  credential: placeOf(task).credential,
  submitted_at: seconds(task.submitted_at),
  upstream_id: task.upstream_id,
  request_id: task.request_id,
  error_code: task.error_code,
});

const placeOf = ({ model, provider_url: url, credential }: WatchedTask) => addressOf([model], url, credential);

const seconds = (date: Date | null): number | null => date && Math.max(unixSeconds(date), 0);

function waitOf({ status, parked, paused_by: pausedBy }: WatchedTask): OperatorTaskView['waiting_for'] {
  if (status !== 'queued') return null;
  if (!parked) return 'worker';
  return pausedBy === null ? 'key_limit' : 'pause';
}
