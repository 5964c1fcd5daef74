import { InputType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import type { TaskPriority } from '../../tasks/record/task-priority.ts';
import { TaskPriorityChoice } from '../../tasks/read/task.view.ts';

/** The body of POST /v1/tasks/{task_id}/retry. */
@InputType('RetryTaskInput', {
  description: 'What to change when a task is made again. What is left out stays as it was.',
})
export class RetryTaskInput {
  @ApiField.json('parameters to change, by their names in REST; null removes one', { optional: true })
  input?: Record<string, unknown>;

  @ApiField.map('the metadata of the new task; that of the first one when left out', { optional: true })
  metadata?: Record<string, string>;

  @ApiField.oneOf(TaskPriorityChoice, 'that of the first task when left out', { optional: true })
  priority?: TaskPriority;
}
