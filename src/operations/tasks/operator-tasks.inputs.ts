import { InputType, ObjectType } from '@nestjs/graphql';
import { ApiField, OMITTABLE } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { type TaskErrorCode, TaskErrorCodeChoice } from '../../tasks/record/task-error.ts';
import { TASK_ID } from '../../tasks/record/task-id.ts';
import { ReasonInput } from '../views/reason.input.ts';
import { WATCHED_STATES, type WatchedState } from './watched-task.ts';

const MAX_PAGE = 100;
const TEXT = { ...OMITTABLE, min: 1, max: 300 };

export const WatchedStateChoice = defineChoice(
  'OperatorTaskState',
  WATCHED_STATES,
  'How an unfinished task is doing: it waits for a worker, for a place of its key, or for the end of a pause; it runs; it seems stuck.',
);

@InputType('OperatorTaskFilter', { description: 'Selects the unfinished tasks that fit every given field.' })
export class OperatorTaskFilter {
  @ApiField.oneOf(WatchedStateChoice, 'the state of the task', OMITTABLE) state?: WatchedState | null;
  @ApiField.string('the process that runs it', TEXT) worker_id?: string | null;
  @ApiField.string('name of the provider that was called last', TEXT) provider?: string | null;
  @ApiField.string('the API key that owns it', TEXT) api_key_id?: string | null;
  @ApiField.string('id of the model', TEXT) model?: string | null;
}

/** Query string of `GET /v1/operations/tasks`. */
export class ListOperatorTasksQuery extends OperatorTaskFilter {
  @ApiField.integer('tasks per page', { optional: true, min: 1, max: MAX_PAGE, default: 20, fromQuery: true })
  limit?: number;
  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: TASK_ID, message: 'after must be the id of a task' },
  })
  after?: string;
}

/** Which tasks to change. */
export class ManyTasksInput extends ReasonInput {
  @ApiField.object(
    () => OperatorTaskFilter,
    'which unfinished tasks, by at least one condition; only the oldest 10,000 of them are taken',
    { minProperties: 1 },
  )
  filter: OperatorTaskFilter;
}

export class FailTaskInput extends ReasonInput {
  @ApiField.oneOf(TaskErrorCodeChoice, 'the error code that its owner gets') code: TaskErrorCode;
}

export class FailTasksInput extends ManyTasksInput {
  @ApiField.oneOf(TaskErrorCodeChoice, 'the error code that their owners get') code: TaskErrorCode;
}

@ObjectType('TasksChanged', { description: 'Outcome of an act on many tasks.' })
export class TasksChangedView {
  @ApiField.constant('tasks_changed') object: 'tasks_changed';
  @ApiField.integer('tasks that the filter selected, 10,000 at most') matched: number;
  @ApiField.integer('tasks that the act changed; the others had ended or changed before') changed: number;
}
