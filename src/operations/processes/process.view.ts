import { ObjectType } from '@nestjs/graphql';
import type { LogLevel } from '../../platform/config/log-levels.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { LogLevelChoice } from './log-levels.view.ts';
import type { SeenProcess } from './sql/process-rows.ts';
import { PROCESS_STATES, type ProcessState } from './process-state.ts';

const StateChoice = defineChoice('ProcessState', PROCESS_STATES, 'How a process is doing.');
const NULLABLE = { nullable: true };

const RoleChoice = defineChoice('ProcessRole', ['all', 'api', 'worker'], 'What a process runs.');

@ObjectType('ProcessCircuit', { description: 'The circuit breaker of one place of a provider, in one process.' })
export class ProcessCircuitView {
  @ApiField.integer('number of the place') place: number;
  @ApiField.string('name of the provider') provider: string;
  @ApiField.boolean('whether this process has stopped calling it for now') open: boolean;
  @ApiField.integer('failures in a row') failures: number;
}

@ObjectType('ProcessConnections', { description: 'The pool of connections to the database of one process.' })
export class ProcessConnectionsView {
  @ApiField.integer('connections in use') used: number;
  @ApiField.integer('open connections that are free') idle: number;
  @ApiField.integer('callers that wait for one') waiting: number;
  @ApiField.integer('most connections') max: number;
}

@ObjectType('Process', { description: 'A running process of the service.' })
export class ProcessView {
  @ApiField.string('identifier: what tasks show as their worker') id: string;
  @ApiField.constant('process') object: 'process';
  @ApiField.oneOf(RoleChoice, 'what it runs') role: 'all' | 'api' | 'worker';
  @ApiField.string('version of the program') version: string;
  @ApiField.string('name of its machine') host: string;
  @ApiField.oneOf(StateChoice, 'late after 12 s without a heartbeat, lost after 30 s, gone after an hour')
  state: ProcessState;
  @ApiField.long('unix seconds') started_at: number;
  @ApiField.long('unix seconds') last_seen_at: number;
  @ApiField.integer('most tasks at once, without those that only poll; 0 without a worker') slots: number;
  @ApiField.integer('tasks that it runs, with those that only poll') busy: number;
  @ApiField.boolean('whether an operator has asked it to drain') drain_requested: boolean;
  @ApiField.number('seconds that the most urgent lease had left at the last renewal; null before the first', {
    nullable: true,
  })
  lease_margin_s: number | null;
  @ApiField.list(() => ProcessCircuitView, 'the circuit breakers of its calls') circuits: ProcessCircuitView[];
  @ApiField.object(
    () => ProcessConnectionsView,
    'its connections to the database; null until it publishes them',
    NULLABLE,
  )
  database_connections: ProcessConnectionsView | null;
  @ApiField.boolean('whether changes by other processes reach it at once; null until it reports', NULLABLE)
  bus_connected: boolean | null;
  @ApiField.oneOf(LogLevelChoice, 'the log level in force; null until it reports', NULLABLE) log_level: LogLevel | null;
  @ApiField.map('the log levels in force by context') log_levels: Record<string, LogLevel>;
}

export const toProcessView = (row: SeenProcess): ProcessView => ({
  id: row.id,
  object: 'process',
  role: row.role,
  version: row.version,
  host: row.host,
  state: row.state,
  started_at: unixSeconds(row.started_at),
  last_seen_at: unixSeconds(row.last_seen_at),
  slots: row.slots,
  busy: row.busy,
  drain_requested: row.drain_requested,
  lease_margin_s: row.lease_margin_s,
  circuits: row.circuits,
  database_connections: row.activity.pool ?? null,
  bus_connected: row.activity.bus?.connected ?? null,
  log_level: row.activity.log?.logLevel ?? null,
  log_levels: row.activity.log?.logLevels ?? {},
});
