import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

@ObjectType('ModelQueue', { description: 'The unfinished tasks of a model.' })
export class ModelQueueView {
  @ApiField.string('id of the model') model: string;
  @ApiField.integer('tasks that wait for a worker') waiting: number;
  @ApiField.integer('tasks that wait for a place of their API key') parked: number;
  @ApiField.integer('tasks that wait for the end of a pause') paused: number;
  @ApiField.integer('tasks that run') running: number;
  @ApiField.number('seconds for which the oldest one that waits for a worker has waited; null: none', {
    nullable: true,
  })
  oldest_waiting_s: number | null;
}

@ObjectType('KeyQueue', { description: 'The unfinished tasks of an API key against its limit.' })
export class KeyQueueView {
  @ApiField.string('the API key') api_key_id: string;
  @ApiField.string('its name; null when it was deleted', { nullable: true }) name: string | null;
  @ApiField.integer('queued tasks') queued: number;
  @ApiField.integer('running tasks') running: number;
  @ApiField.integer('most tasks at once; 0: no limit') max_running: number;
  @ApiField.integer('its share of the starts') weight: number;
  @ApiField.long('unix seconds; null: never', { nullable: true }) last_used_at: number | null;
}

@ObjectType('ProcessCounts', { description: 'How many processes are in each state.' })
export class ProcessCountsView {
  @ApiField.integer('processes') live: number;
  @ApiField.integer('processes that gave no sign for 12 s') late: number;
  @ApiField.integer('processes that claim nothing more') draining: number;
  @ApiField.integer('processes that may stop') drained: number;
  @ApiField.integer('processes that gave no sign for 30 s') lost: number;
}

@ObjectType('TaskRates', { description: 'What became of tasks in the last five minutes.' })
export class TaskRatesView {
  @ApiField.integer('tasks that started') started: number;
  @ApiField.integer('tasks that succeeded') succeeded: number;
  @ApiField.integer('tasks that failed, other than by a cancel or for their content') failed: number;
}

@ObjectType('OperationsOverview', { description: 'What an operator sees first.' })
export class OperationsOverviewView {
  @ApiField.constant('operations') object: 'operations';
  @ApiField.string('version of the process that answers') version: string;
  @ApiField.string('the last migration of the database') migration: string;
  @ApiField.json('the readiness checks of the process that answers, as in `/readyz`') checks: Record<string, string>;
  @ApiField.object(() => ProcessCountsView, 'processes by state') processes: ProcessCountsView;
  @ApiField.list(() => ModelQueueView, 'unfinished tasks by model; models without any are left out')
  queue: ModelQueueView[];
  @ApiField.object(() => TaskRatesView, 'the last five minutes') rates: TaskRatesView;
  @ApiField.integer('pauses in force') pauses: number;
  @ApiField.long('unix seconds') sampled_at: number;
}
