import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { LogLevelsView } from '../processes/log-levels.view.ts';
import { ProcessConnectionsView } from '../processes/process.view.ts';
import { ObjectiveView } from './objective.view.ts';

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
  @ApiField.integer('tasks that succeeded in the last hour') succeeded_last_hour: number;
  @ApiField.integer('tasks that failed in the last hour, without cancels and refused content')
  failed_last_hour: number;
}

@ObjectType('ProcessCounts', { description: 'How many processes are in each state.' })
export class ProcessCountsView {
  @ApiField.integer('processes') live: number;
  @ApiField.integer('processes without a heartbeat for 12 s') late: number;
  @ApiField.integer('processes that claim no new tasks') draining: number;
  @ApiField.integer('drained processes, which may be stopped') drained: number;
  @ApiField.integer('processes without a heartbeat for 30 s') lost: number;
}

@ObjectType('TaskRates', { description: 'How tasks went in the last five minutes.' })
export class TaskRatesView {
  @ApiField.integer('tasks that were created') created: number;
  @ApiField.integer('tasks that started') started: number;
  @ApiField.integer('tasks that succeeded') succeeded: number;
  @ApiField.integer('tasks that failed, without cancels and refused content') failed: number;
  @ApiField.integer('tasks that ended in any way') ended: number;
}

@ObjectType('TaskPlaces', { description: 'How many tasks the processes may run at once.' })
export class TaskPlacesView {
  @ApiField.integer('most tasks at once, without those that only poll') total: number;
  @ApiField.integer('tasks that run, with those that only poll') busy: number;
}

@ObjectType('OperationsBus', { description: 'How one process tells the others of changes.' })
export class BusView {
  @ApiField.string('postgres or redis') kind: string;
  @ApiField.boolean('whether it reaches every process') connected: boolean;
  @ApiField.integer('changes that wait to be sent') outbox: number;
}

@ObjectType('OperationsOverview', { description: 'What an operator sees first.' })
export class OperationsOverviewView {
  @ApiField.constant('operations') object: 'operations';
  @ApiField.string('version of the process that answers') version: string;
  @ApiField.string('the last migration of the database') migration: string;
  @ApiField.string('the last migration that the process that answers knows') known_migration: string;
  @ApiField.json('the readiness checks of the process that answers, as in `/readyz`') checks: Record<string, string>;
  @ApiField.object(() => ProcessCountsView, 'processes by state') processes: ProcessCountsView;
  @ApiField.list(() => ModelQueueView, 'unfinished tasks by model; models without any are left out')
  queue: ModelQueueView[];
  @ApiField.object(() => TaskRatesView, 'the last five minutes') rates: TaskRatesView;
  @ApiField.object(() => TaskPlacesView, 'summed over the processes that claim tasks') places: TaskPlacesView;
  @ApiField.list(() => ObjectiveView, 'the service level objectives in the last hour') objectives: ObjectiveView[];
  @ApiField.string('where files are: disk or s3') storage: string;
  @ApiField.object(() => BusView, 'the bus of events') bus: BusView;
  @ApiField.object(() => ProcessConnectionsView, 'connections to the database, of all processes together')
  database_connections: ProcessConnectionsView;
  @ApiField.integer('pauses in force') pauses: number;
  @ApiField.object(() => LogLevelsView, 'what an operator has set') log_levels: LogLevelsView;
  @ApiField.long('unix seconds') sampled_at: number;
}
