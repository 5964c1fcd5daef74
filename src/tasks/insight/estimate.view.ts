import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { type TaskStatus, TaskStatusChoice } from '../record/task.entity.ts';

export const WAITS = ['worker', 'key_limit', 'provider_limit', 'pause'] as const;
export type WaitingFor = (typeof WAITS)[number];
const WaitingForChoice = defineChoice(
  'WaitingFor',
  WAITS,
  'What a task waits for: a worker, or a place within the limit of its API key or of its provider.',
);

@ObjectType('TaskEstimate', { description: 'When a task will probably start and end.' })
export class TaskEstimateView {
  @ApiField.constant('task_estimate') object: 'task_estimate';
  @ApiField.string('identifier of the task') task_id: string;
  @ApiField.oneOf(TaskStatusChoice, 'status of the task') status: TaskStatus;
  @ApiField.integer('1: it starts next. null: it does not wait for a worker, or its position is beyond 10,000', {
    nullable: true,
  })
  position: number | null;
  @ApiField.oneOf(WaitingForChoice, 'what the task waits for; null when it does not wait', { nullable: true })
  waiting_for: WaitingFor | null;
  @ApiField.long('unix seconds; null when unknown', { nullable: true }) estimated_start_at: number | null;
  @ApiField.long('unix seconds; null when unknown', { nullable: true }) estimated_completion_at: number | null;
  @ApiField.long('unix seconds at which the line was read') sampled_at: number;
}
