import { InputType, ObjectType } from '@nestjs/graphql';
import { LOG_LEVELS, type LogLevel } from '../../platform/config/log-levels.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import type { LogLevelsRow } from './log-levels.entity.ts';

export const LogLevelChoice = defineChoice('LogLevel', LOG_LEVELS, 'From the most severe; `silent` logs nothing.');

@InputType('SetLogLevelsInput', {
  description: 'The log levels of all processes. What is left out goes back to the configuration.',
})
export class SetLogLevelsInput {
  /** A request must have a body, because a request without one would reset all levels. */
  static readonly needsBody = true;
  @ApiField.oneOf(LogLevelChoice, 'the least severe level that is logged, in place of LOG_LEVEL', {
    optional: true,
    nullable: true,
  })
  log_level?: LogLevel | null;
  @ApiField.map('levels of single contexts, in place of those in LOG_LEVELS', { optional: true, nullIsOmitted: true })
  log_levels?: Record<string, string> | null;
}

@ObjectType('LogLevels', { description: 'The log levels that an operator has set for all processes.' })
export class LogLevelsView {
  @ApiField.string('always "log_levels"') object: 'log_levels';
  @ApiField.oneOf(LogLevelChoice, 'in place of LOG_LEVEL; null: LOG_LEVEL is in force', { nullable: true })
  log_level: LogLevel | null;
  @ApiField.map('by context, in place of those in LOG_LEVELS') log_levels: Record<string, LogLevel>;
  @ApiField.long('unix seconds; null: never', { nullable: true }) changed_at: number | null;
  @ApiField.string('the API key that set them; null: none, or the command line', { nullable: true })
  changed_by: string | null;
}

/** @param row null if no operator has set levels */
export const toLogLevelsView = (row: LogLevelsRow | null): LogLevelsView => ({
  object: 'log_levels',
  log_level: row?.log_level ?? null,
  log_levels: row?.log_levels ?? {},
  changed_at: row && unixSeconds(row.changed_at),
  changed_by: row?.changed_by ?? null,
});
